import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentHash } from '../../../src/elements/hash.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { atFirstObserve, readOnce, type PassResult } from './bed.js';

/** Reads one file. */
async function read(
  content: string | Uint8Array,
  options: Record<string, unknown> = {},
  parts: Parameters<typeof readOnce>[2] = {},
): Promise<PassResult> {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.jsonl': content });
  return readOnce(root, options, parts);
}

function hashesOf({ elements }: PassResult): Record<string, string> {
  return Object.fromEntries(
    elements.map((element) => [
      element.id,
      element.kind === 'document' ? contentHash(element) : element.kind,
    ]),
  );
}

test('each line is a document; what is left of it is metadata', async () => {
  const { elements } = await read(
    '{"id":"x","text":"one","lang":"en","meta":{"n":1}}\n\n  \n{"text":"two","id":7}\n',
  );
  expect(elements.map(({ id }) => id)).toEqual(['a.jsonl/x', 'a.jsonl/7']);
  expect(elements.map((element) => element.kind === 'document' && [element.text, element.metadata])).toEqual([
    ['one', { path: 'a.jsonl', format: 'json-lines', lang: 'en', meta: { n: 1 } }],
    ['two', { path: 'a.jsonl', format: 'json-lines' }],
  ]);
});

test('fields are found by their paths', async () => {
  const line = {
    key: { id: 5 },
    title: 'T',
    'a.b': 'dotted',
    body: { text: 'B' },
    none: null,
    x: { y: 1, z: 2 },
  };
  const { elements } = await read(JSON.stringify(line), {
    jsonl: {
      id: 'key.id',
      text: ['title', 'none', 'missing', 'body.text'],
      metadata: ['x.y', 'a.b', 'nowhere.at'],
    },
  });
  expect(elements.map((element) => ({ ...element, version: '' }))).toEqual([
    {
      kind: 'document',
      id: 'a.jsonl/5',
      text: 'T\n\nB',
      metadata: { path: 'a.jsonl', format: 'json-lines', x: { y: 1 }, 'a.b': 'dotted' },
      version: '',
    },
  ]);
});

test('a field called __proto__ is a field', async () => {
  const { elements } = await read('{"id":1,"text":"t","__proto__":{"x":1}}');
  const [element] = elements;
  if (element?.kind !== 'document') throw new Error('no document');
  expect(Object.keys(element.metadata).sort()).toEqual(['__proto__', 'format', 'path']);
});

test.each([2, 3, 4])('a character of %i bytes on the edge of a buffer stays whole', async (width) => {
  const character = { 2: 'ü', 3: '水', 4: '😀' }[width]!;
  for (let before = 65_536 - width; before <= 65_536; before++) {
    const head = '{"id":1,"text":"';
    const text = `${'x'.repeat(before - head.length)}${character}${'y'.repeat(70_000)}${character}`;
    const { found } = await read(`${head}${text}"}\n{"id":2,"text":"${character}"}\n`);
    expect(found).toEqual({ 'a.jsonl/1': text, 'a.jsonl/2': character });
  }
});

test('CRLF gives the same documents as LF, also with the CR at the end of a buffer', async () => {
  for (let length = 65_534; length <= 65_538; length++) {
    const first = `{"id":1,"text":"`;
    const lines = [
      `${first}${'x'.repeat(length - first.length - 3)}"}`,
      '{"id":2,"text":"two\\r\\n"}',
      '{"id":3,"text":"3"}',
    ];
    expect(lines[0]!.length).toBe(length - 1);
    const lf = await read(`${lines.join('\n')}\n`);
    const crlf = await read(`${lines.join('\r\n')}\r\n`);
    expect(Object.keys(hashesOf(lf)).length).toBe(3);
    expect(hashesOf(crlf)).toEqual(hashesOf(lf));
  }
});

test('a line that is no document fails alone, and says where', async () => {
  const deep = `{"id":"deep","text":"x","m":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const lines = [
    '{"id":"good","text":"1"}',
    '{"id":"cut","text":"2',
    '["no object"]',
    '{"text":"no id"}',
    '{"id":"","text":"empty id"}',
    '{"id":12345678901234567890,"text":"inexact"}',
    '{"id":true,"text":"odd"}',
    '{"id":"no text"}',
    '{"id":"null text","text":null}',
    '{"id":"number text","text":5}',
    deep,
    '{"id":"last","text":"9"}',
  ];
  const { elements, found } = await read(lines.join('\n'));
  const named = Object.fromEntries(
    Object.entries(found).filter(([id]) => !/^a\.jsonl\/line-[0-9a-f]{16}$/.test(id)),
  );
  expect(named).toEqual({
    'a.jsonl/good': '1',
    'a.jsonl/last': '9',
    'a.jsonl/no text': '[item_malformed]',
    'a.jsonl/null text': '[item_malformed]',
    'a.jsonl/number text': '[item_malformed]',
  });
  expect(elements.length).toBe(12);
  for (const [at, element] of elements.entries())
    if (element.kind === 'unreadable') expect(element.error.message).toContain(`Line ${at + 1} of a.jsonl`);
});

test('a line with bytes that are not UTF-8 fails alone', async () => {
  const { found } = await read(
    Buffer.concat([
      Buffer.from('{"id":1,"text":"a"}\n{"id":2,"text":"'),
      Buffer.from([0xc3]),
      Buffer.from('"}\n{"id":3,"text":"c"}\n'),
    ]),
  );
  expect(Object.values(found).sort()).toEqual(['[item_malformed]', 'a', 'c']);
});

test('a failed line keeps its id when other lines come before it', async () => {
  const bad = (result: PassResult): string[] =>
    result.elements.filter(({ kind }) => kind === 'unreadable').map(({ id }) => id);
  const first = bad(await read('{"id":1,"text":"a"}\nbroken\n'));
  expect(first.length).toBe(1);
  expect(bad(await read('{"id":0,"text":"new"}\n\n{"id":1,"text":"a"}\nbroken\n'))).toEqual(first);
});

test('while a line has no id, nothing in its file counts as vanished', async () => {
  const { completes } = await read('{"id":1,"text":"a"}\nbroken\n');
  expect(completes[0]?.scope.except).toEqual(['a.jsonl/']);
  const named = await read('{"id":1,"text":"a"}\n{"id":2}\n');
  expect(named.completes[0]?.scope.except).toEqual([]);
});

test('an endless line is skipped to its end and the lines after it are read', async () => {
  const endless = `{"id":"endless","text":"${'x'.repeat(3_000_000)}"}`;
  const { elements, found } = await read(
    `{"id":1,"text":"a"}\n${endless}\r\n{"id":2,"text":"b"}\n`,
    {},
    { maxItemBytes: 100_000 },
  );
  expect(elements.length).toBe(3);
  expect(Object.values(found)).toEqual(['a', '[item_too_large]', 'b']);
});

test('a line of just the limit is read, with LF and with CRLF', async () => {
  const line = '{"id":1,"text":"0123456789"}';
  for (const end of ['\n', '\r\n', '']) {
    expect((await read(line + end, {}, { maxItemBytes: line.length })).found).toEqual({
      'a.jsonl/1': '0123456789',
    });
    const over = await read(line + end, {}, { maxItemBytes: line.length - 1 });
    expect(Object.values(over.found)).toEqual(['[item_too_large]']);
  }
});

test('the last line needs no newline, and a cut one is a failure when nobody will finish it', async () => {
  expect((await read('{"id":1,"text":"a"}\n{"id":2,"text":"b"}')).found).toEqual({
    'a.jsonl/1': 'a',
    'a.jsonl/2': 'b',
  });
  const cut = await read('{"id":1,"text":"a"}\n{"id":2,"te');
  expect(Object.values(cut.found)).toEqual(['a', '[item_malformed]']);
});

test('a file in UTF-16 is one failure, and what it held stays', async () => {
  const { found, completes } = await read(
    Buffer.from('\uFEFF{"id":1,"text":"a"}\n{"id":2,"text":"b"}\n', 'utf16le'),
  );
  expect(found).toEqual({ 'a.jsonl': '[item_malformed]' });
  expect(completes[0]?.scope.except).toEqual(['a.jsonl/']);
});

test('a byte order mark of UTF-8 before the first line is dropped', async () => {
  expect((await read('\uFEFF{"id":1,"text":"a"}\n')).found).toEqual({ 'a.jsonl/1': 'a' });
});

test('an empty file holds nothing, and its documents are gone', async () => {
  const { elements, completes } = await read('');
  expect(elements).toEqual([]);
  expect(completes[0]?.scope.except).toEqual([]);
});

test('of an id that comes twice the last line counts', async () => {
  const filler = Array.from({ length: 1000 }, (_, at) => `{"id":"f${at}","text":"f"}`);
  const lines = ['{"id":1,"text":"first"}', '{"id":1,"text":"second"}', ...filler, '{"id":1,"text":"last"}'];
  const { elements, found } = await read(lines.join('\n'));
  expect(found['a.jsonl/1']).toBe('last');
  const versions = elements.filter(({ id }) => id === 'a.jsonl/1').map(({ version }) => version);
  expect(versions.length).toBe(2);
  expect(versions.toSorted()).toEqual(versions);
});

test('lines that are appended while the file is read do not hold it up', async () => {
  const root = await temporaryFolder();
  const line = (at: number): string => `{"id":${at},"text":"text ${at}"}\n`;
  await writeFiles(root, { 'a.jsonl': Array.from({ length: 2000 }, (_, at) => line(at)).join('') });
  let next = 2000;
  const observed: string[] = [];
  const { found, elements } = await readOnce(root, {}, (given) => ({
    async observe(ids) {
      observed.push(...ids);
      if (next < 2010) await appendFile(join(root, 'a.jsonl'), line(next++));
      return given.observe(ids);
    },
  }));
  expect(elements.length).toBe(Object.keys(found).length);
  expect(elements.length).toBeGreaterThanOrEqual(2000);
  expect(observed.length).toBe(elements.length);
});

test('a file that is rewritten while it is read is handed over as it is then', async () => {
  const root = await temporaryFolder();
  const lines = (word: string, count: number): string =>
    Array.from({ length: count }, (_, at) => `{"id":${at},"text":"${word} ${at}"}\n`).join('');
  await writeFiles(root, { 'a.jsonl': lines('old', 1000) });
  const rewrite = atFirstObserve('after', () => writeFile(join(root, 'a.jsonl'), lines('later', 1500)));
  const { found, elements } = await readOnce(root, {}, rewrite);
  expect(elements.length).toBe(1500);
  expect(Object.values(found).every((text) => text.startsWith('later'))).toBe(true);
});
