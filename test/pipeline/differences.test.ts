import { expect, test } from 'vitest';
import { differences } from '../../src/pipeline/differences.js';

test('differences name the path, the value before and the value after', () => {
  const before = { chunk: { markdown: { maxTokens: 200, overlap: 0 } }, enrich: [{ name: 'a' }], model: 'x' };
  const after = { chunk: { markdown: { maxTokens: 256, overlap: 0, minTokens: 5 } }, enrich: [], model: 'x' };
  expect(differences(before, after)).toEqual([
    'chunk.markdown.maxTokens: 200 -> 256',
    'chunk.markdown.minTokens: not set -> 5',
    'enrich: [{"name":"a"}] -> []',
  ]);
  expect(differences(before, structuredClone(before))).toEqual([]);
});
