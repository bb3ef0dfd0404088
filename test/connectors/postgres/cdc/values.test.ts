import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentHash } from '../../../../src/elements/hash.js';
import type { Document, SourceElement } from '../../../../src/elements/document.js';
import type { Json } from '../../../../src/elements/metadata.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
  await server.sql(
    "create type mood as enum ('sad', 'glad')",
    'create domain posint as int check (value > 0)',
    'create domain label as text',
    'create type pair as (a int, b text)',
  );
}, patience);
afterAll(() => server?.stop());

/** Type, SQL literal, and what becomes of it. */
const values: readonly (readonly [type: string, literal: string, json: Json])[] = [
  ['numeric', "'7000'", '7000'],
  ['numeric', "'12345678901234567890.123456789'", '12345678901234567890.123456789'],
  ['numeric(10,2)', "'7000.10'", '7000.10'],
  ['numeric', "'NaN'", 'NaN'],
  ['numeric', "'Infinity'", 'Infinity'],
  ['bigint', '9007199254740993', '9007199254740993'],
  ['bigint', '-42', -42],
  ['int', '2147483647', 2147483647],
  ['smallint', '-7', -7],
  ['real', '0.1', 0.1],
  ['double precision', '0.1', 0.1],
  ['double precision', "'NaN'", 'NaN'],
  ['double precision', "'-Infinity'", '-Infinity'],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['text', "E'tab\\t\\\\N'", 'tab\t\\N'],
  ['varchar(5)', "'abc'", 'abc'],
  ['char(5)', "'abc'", 'abc  '],
  ['uuid', "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ['bytea', "'\\x00ff10'", '\\x00ff10'],
  ['date', "'infinity'", 'infinity'],
  ['date', "'2024-02-29'", '2024-02-29'],
  ['time', "'12:30:00.5'", '12:30:00.5'],
  ['timestamp', "'2024-01-02 03:04:05.123456'", '2024-01-02T03:04:05.123456'],
  ['timestamptz', "'2024-01-02 03:04:05.123456+02'", '2024-01-02T01:04:05.123456Z'],
  ['timestamptz', "'infinity'", 'infinity'],
  ['timestamptz', "'-infinity'", '-infinity'],
  ['timestamp', "'0044-03-15 12:00:00 BC'", '0044-03-15 12:00:00 BC'],
  ['interval', "'1 year 2 days 03:04:05'", '1 year 2 days 03:04:05'],
  ['json', `'{"a":"line\\nbreak\\\\ \\u00e9","b":[1,2]}'`, { a: 'line\nbreak\\ é', b: [1, 2] }],
  ['jsonb', `'[1, {"t": "\\t"}, null]'`, [1, { t: '\t' }, null]],
  ['json', "'null'", null],
  ['jsonb', "'null'", null],
  ['jsonb', "'9007199254740993'", '9007199254740993'],
  [
    'jsonb',
    `'{"n": 12345678901234567890.5, "m": 0.1, "s": "9007199254740993"}'`,
    {
      n: '12345678901234567890.5',
      m: 0.1,
      s: '9007199254740993',
    },
  ],
  ['int[]', "'{1,NULL,3}'", [1, null, 3]],
  ['int[]', "'[0:1]={1,2}'", [1, 2]],
  [
    'int[][]',
    "'{{1,2},{3,4}}'",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['text[]', `'{"a,b","c\\"d","NULL",NULL,""}'`, ['a,b', 'c"d', 'NULL', null, '']],
  ['bigint[]', "'{9007199254740993}'", ['9007199254740993']],
  ['jsonb[]', `array['{"a": 1}'::jsonb]`, [{ a: 1 }]],
  ['timestamptz[]', "'{2024-01-02 00:00:00+00}'", ['2024-01-02T00:00:00Z']],
  ['int[]', "'{}'", []],
  ['mood', "'glad'", 'glad'],
  ['mood[]', "'{sad,glad}'", ['sad', 'glad']],
  ['posint', '5', 5],
  ['label', "'x'", 'x'],
  ['posint[]', "'{1,2}'", [1, 2]],
  ['int4range', "'[1,5)'", '[1,5)'],
  ['int4multirange', "'{[1,3),[5,7)}'", '{[1,3),[5,7)}'],
  ['pair', "row(1, 'x,y')", '(1,"x,y")'],
  ['inet', "'10.0.0.1/8'", '10.0.0.1/8'],
  ['point', "'(1,2)'", '(1,2)'],
  ['box[]', "'{(1,1),(0,0)}'", '{(1,1),(0,0)}'],
  ['money', "'12.5'", '$12.50'],
  ['text', 'null', null],
];

test('every common type gives one exact value, the same from the table and from the stream', async () => {
  const columns = values.map(([type], at) => `c${at} ${type}`).join(', ');
  const literals = values.map(([, literal]) => literal).join(', ');
  await server.sql(
    `create table kinds (id text primary key, body text, ${columns})`,
    `insert into kinds values ('table', 'x', ${literals})`,
  );
  const reading = follow(await openTable(server, 'kinds'));
  const read = await reading.caughtUp();
  await server.sql(`insert into kinds values ('stream', 'x', ${literals})`);
  const streamed = await reading.caughtUp();
  await reading.end();
  const expected = Object.fromEntries(values.map(([, , json], at) => [`c${at}`, json]));
  expect(documentOf(read).metadata).toEqual(expected);
  expect(documentOf(streamed).metadata).toEqual(expected);
  expect(contentHash(documentOf(streamed))).toBe(contentHash(documentOf(read)));
});

test('an id is its text, also beyond what a number can hold', async () => {
  await server.sql(
    'create table big (id bigint primary key, body text)',
    "insert into big values (9007199254740993, 'a')",
  );
  const reading = follow(await openTable(server, 'big'));
  expect(documentOf(await reading.caughtUp()).id).toBe('9007199254740993');
  await server.sql("insert into big values (9007199254740995, 'b')", "delete from big where body = 'a'");
  expect((await reading.caughtUp()).map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'document 9007199254740995',
    'deletion 9007199254740993',
  ]);
  await reading.end();
});

function documentOf(elements: readonly SourceElement[]): Document {
  expect(elements).toHaveLength(1);
  const [element] = elements;
  if (element?.kind !== 'document') throw new Error(`expected a document, not ${element?.kind}`);
  return element;
}
