import { expect, test } from 'vitest';
import { redisSourceConfig, type EntryFields } from '../../../connectors/redis/config.js';
import { decodeEntry } from '../../../connectors/redis/decode.js';
import { EntryVersions } from '../../../connectors/redis/entry-versions.js';
import { versionOf } from '../../../src/elements/version.js';

const fieldsOf = (fields: object = {}): EntryFields =>
  redisSourceConfig.parse({ url: 'redis://localhost', stream: 's', fields }).fields;
const decode = (entry: Record<string, string>, fields?: object, maxItemBytes = 1_000) =>
  decodeEntry(
    { id: '1700000000000-3', fields: Object.entries(entry).flat() },
    { fields: fieldsOf(fields), versions: new EntryVersions(2), maxItemBytes },
  );
const version = versionOf(2, 1700000000000n, 3n);

test('flat fields make a document whose version is the id of its entry; the rest is metadata', () => {
  expect(decode({ id: 'a', text: 'ants', lang: 'en', op: 'upsert' })).toEqual({
    kind: 'document',
    id: 'a',
    text: 'ants',
    metadata: { lang: 'en' },
    version,
  });
});

test('a JSON document in one field is read like a line of JSON', () => {
  const fields = { json: 'doc', id: 'meta.key', text: ['title', 'body'], metadata: ['meta.lang'] };
  const doc = JSON.stringify({ meta: { key: 7, lang: 'en' }, title: 'Ants', body: 'They dig.' });
  expect(decode({ doc }, fields)).toMatchObject({
    kind: 'document',
    id: '7',
    text: 'Ants\n\nThey dig.',
    metadata: { meta: { lang: 'en' } },
  });
  expect(decode({ doc: JSON.stringify({ id: 'a' }), op: 'delete' }, { json: 'doc' })).toMatchObject({
    kind: 'deletion',
    id: 'a',
  });
});

test('a deletion needs no text', () => {
  expect(decode({ id: 'a', op: 'delete' })).toEqual({ kind: 'deletion', id: 'a', version });
});

test('a version of the user comes before the id of the entry', () => {
  const fields = { version: 'rev' };
  expect(decode({ id: 'a', text: 'x', rev: '0042' }, fields)).toMatchObject({
    version: versionOf(2, 42n),
    metadata: {},
  });
  for (const rev of ['-1', '1.5', 'x', '', '99999999999999999999'])
    expect(decode({ id: 'a', text: 'x', rev }, fields)).toMatchObject({
      kind: 'unreadable',
      id: 'a',
      error: { code: 'item_malformed' },
    });
});

test.each([
  ['no id', { text: 'x' }, undefined, 'entry-1700000000000-3', '`id`'],
  ['an empty id', { id: '', text: 'x' }, undefined, 'entry-1700000000000-3', '`id`'],
  ['no text', { id: 'a' }, undefined, 'a', '`text`'],
  ['an unknown op', { id: 'a', text: 'x', op: 'purge' }, undefined, 'a', '"purge"'],
  ['no JSON field', { id: 'a' }, { json: 'doc' }, 'entry-1700000000000-3', '`doc`'],
  ['broken JSON', { doc: '{' }, { json: 'doc' }, 'entry-1700000000000-3', 'not valid JSON'],
  ['a JSON list', { doc: '[]' }, { json: 'doc' }, 'entry-1700000000000-3', 'not a JSON object'],
])('%s makes an unreadable element that says so', (_, entry, fields, id, said) => {
  const element = decode(entry as Record<string, string>, fields);
  expect(element).toMatchObject({ kind: 'unreadable', id, version, error: { code: 'item_malformed' } });
  expect('error' in element && element.error.message).toContain(said);
});

test('an entry over the limit is refused by its size', () => {
  expect(decode({ id: 'a', text: 'x'.repeat(2_000) })).toMatchObject({
    kind: 'unreadable',
    id: 'a',
    error: { code: 'item_too_large' },
  });
});

test('a field called __proto__ is a field like any other', () => {
  const entry = { id: '1-0', fields: ['id', 'a', 'text', 'x', '__proto__', 'y'] };
  const element = decodeEntry(entry, {
    fields: fieldsOf(),
    versions: new EntryVersions(0),
    maxItemBytes: 1_000,
  });
  expect('metadata' in element && Object.keys(element.metadata)).toEqual(['__proto__']);
});

test('an entry makes the same of its fields whether it says that it sets the document or nothing', () => {
  const fields = [
    'id',
    'a\0',
    'lang',
    'en',
    'text',
    'ants \uD800',
    'lang',
    'de',
    'k\0',
    'v\uDC00',
    '7',
    'x',
    'toString',
    '',
  ];
  const options = { fields: fieldsOf(), versions: new EntryVersions(2), maxItemBytes: 1_000 };
  const id = '1700000000000-3';
  const plain = decodeEntry({ id, fields }, options);
  expect(plain).toEqual(decodeEntry({ id, fields: ['op', 'upsert', ...fields] }, options));
  expect(Object.keys((plain as { metadata: object }).metadata)).toEqual(['7', 'lang', 'k\uFFFD', 'toString']);
  expect(plain).toMatchObject({ id: 'a\uFFFD', text: 'ants \uFFFD', version, metadata: { lang: 'de' } });
});

test('versions follow the ids, within a millisecond and from one to another', () => {
  const versions = new EntryVersions(1);
  const ids = [
    '5-0',
    '5-1',
    '5-18446744073709551615',
    '51-0',
    '1700000000000-0',
    '1700000000000-12',
    '1700000000001-2',
  ];
  expect(ids.map((id) => versions.at(id))).toEqual(
    ids.map((id) => versionOf(1, ...(id.split('-').map(BigInt) as [bigint, bigint]))),
  );
});
