import { expect, it } from 'vitest';
import type { ModelIdentity } from '../../src/contracts/embedding-model.js';
import { describeDifference, identityDigest } from '../../src/inference/identity.js';

const identity: ModelIdentity = {
  name: 'bundled',
  weights: 'a'.repeat(64),
  tokenizer: 'b'.repeat(64),
  pooling: 'mean',
  normalize: true,
  prompts: { document: '', query: '' },
  width: 384,
  dtype: 'fp32',
};

it('is the same wherever the weights came from', () => {
  const elsewhere = { ...identity, name: 'some/model', revision: 'main' };
  expect(identityDigest(elsewhere)).toBe(identityDigest(identity));
  expect(identityDigest(identity)).toMatch(/^[0-9a-f]{32}$/);
  expect(describeDifference(identity, elsewhere)).toBe('');
});

const changes: [string, Partial<ModelIdentity>, string][] = [
  ['weights', { weights: 'c'.repeat(64) }, 'weights (stored aaaaaaaaaaaa, now cccccccccccc)'],
  ['tokenizer', { tokenizer: 'd'.repeat(64) }, 'tokenizer (stored bbbbbbbbbbbb, now dddddddddddd)'],
  ['pooling', { pooling: 'cls' }, 'pooling (stored "mean", now "cls")'],
  ['normalisation', { normalize: false }, 'normalize (stored true, now false)'],
  ['document prompt', { prompts: { document: 'p: ', query: '' } }, 'document prompt (stored "", now "p: ")'],
  ['query prompt', { prompts: { document: '', query: 'q: ' } }, 'query prompt (stored "", now "q: ")'],
  ['width', { width: 256 }, 'width (stored 384, now 256)'],
  ['dtype', { dtype: 'int8' }, 'dtype (stored "fp32", now "int8")'],
];

it.each(changes)('differs with the %s, and says so', (_, change, message) => {
  const other = { ...identity, ...change };
  expect(identityDigest(other)).not.toBe(identityDigest(identity));
  expect(describeDifference(identity, other)).toBe(message);
});

it('lists all that differs', () => {
  expect(describeDifference(identity, { ...identity, width: 256, dtype: 'int8' })).toBe(
    'width (stored 384, now 256); dtype (stored "fp32", now "int8")',
  );
});
