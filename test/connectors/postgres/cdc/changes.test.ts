import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, readAll, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

const noise = (bytes: number) =>
  `(select string_agg(md5(random()::text), '') from generate_series(1, ${Math.ceil(bytes / 32)}))`;

test('rows that are there, and inserts, updates and deletes, become documents and deletions', async () => {
  await server.sql(
    'create table plain (id int primary key, title text, body text, lang text)',
    "insert into plain values (1, 'Ants', 'They dig.', 'en'), (2, 'Bees', 'They fly.', 'en')",
  );
  const reading = follow(await openTable(server, 'plain', { text: ['title', 'body'] }));
  expect(await reading.caughtUp()).toMatchObject([
    { kind: 'document', id: '1', text: 'Ants\n\nThey dig.', metadata: { lang: 'en' } },
    { kind: 'document', id: '2' },
  ]);
  await server.sql(
    "insert into plain values (3, 'Cows', null, null)",
    "update plain set body = 'They march.' where id = 1",
    'delete from plain where id = 2',
  );
  const elements = await reading.caughtUp();
  expect(elements).toMatchObject([
    { kind: 'document', id: '3', text: 'Cows', metadata: { lang: null } },
    { kind: 'document', id: '1', text: 'Ants\n\nThey march.' },
    { kind: 'deletion', id: '2' },
  ]);
  expect(reading.ledger.texts()).toEqual({ 1: 'Ants\n\nThey march.', 3: 'Cows' });
  const versions = elements.map(({ version }) => version);
  expect([...versions].sort()).toEqual(versions);
  await reading.end();
});

test('changes of one transaction are versions in their order; a transaction that began earlier and ended later is newer', async () => {
  await server.sql('create table ordered (id int primary key, body text)');
  const reading = follow(await openTable(server, 'ordered'));
  await reading.caughtUp();
  const early = await server.connect();
  await early.query('begin');
  await early.query("insert into ordered values (1, 'early')");
  await server.sql("insert into ordered values (2, 'quick')");
  await early.query("update ordered set body = 'later' where id = 1");
  await early.query("insert into ordered values (3, 'last')");
  await early.query('commit');
  await early.end();
  const elements = await reading.caughtUp();
  expect(elements.map(({ id, kind, ...rest }) => `${kind} ${id} ${'text' in rest ? rest.text : ''}`)).toEqual(
    ['document 2 quick', 'document 1 early', 'document 1 later', 'document 3 last'],
  );
  expect(elements.slice(1).map(({ version }) => version.slice(26))).toEqual(
    [1, 2, 3].map((index) => index.toString(16).padStart(16, '0')),
  );
  expect(new Set(elements.slice(1).map(({ version }) => version.slice(0, 25))).size).toBe(1);
  await reading.end();
});

test('a row that changes its key is a deletion and a document', async () => {
  await server.sql(
    'create table moving (id int primary key, body text)',
    "insert into moving values (1, 'ants')",
  );
  const reading = follow(await openTable(server, 'moving'));
  await reading.caughtUp();
  await server.sql('update moving set id = 7');
  expect(await reading.caughtUp()).toMatchObject([
    { kind: 'deletion', id: '1' },
    { kind: 'document', id: '7', text: 'ants' },
  ]);
  await server.sql('alter table moving replica identity full', 'update moving set id = 8');
  await reading.caughtUp();
  expect(reading.ledger.texts()).toEqual({ 8: 'ants' });
  await reading.end();
});

test.each([
  ['default', 'default'],
  ['full', 'full'],
])('a large text that did not change is kept, with %s replica identity', async (name, identity) => {
  const table = `toast_${name}`;
  await server.sql(
    `create table ${table} (id int primary key, body text, views int)`,
    `alter table ${table} replica identity ${identity}`,
    `insert into ${table} values (1, ${noise(20_000)}, 0)`,
  );
  const reading = follow(await openTable(server, table));
  await reading.caughtUp();
  const before = reading.ledger.texts();
  expect(before[1]).toHaveLength(20_000);
  await server.sql(`update ${table} set views = views + 1`);
  expect(await reading.caughtUp()).toMatchObject([{ kind: 'document', id: '1', metadata: { views: 1 } }]);
  expect(reading.ledger.texts()).toEqual(before);
  await reading.end();
});

test('a row inserted and changed in one transaction keeps its large text', async () => {
  await server.sql('create table fresh (id int primary key, body text, status text)');
  const reading = follow(await openTable(server, 'fresh'));
  await reading.caughtUp();
  const client = await server.connect();
  await client.query('begin');
  await client.query(`insert into fresh values (7, ${noise(20_000)}, 'new')`);
  await client.query("update fresh set status = 'read'");
  await client.query('update fresh set id = 8');
  await client.query('commit');
  await client.end();
  const elements = await reading.caughtUp();
  expect(elements.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'document 7',
    'document 7',
    'deletion 7',
    'document 8',
  ]);
  for (const element of elements) if (element.kind === 'document') expect(element.text).toHaveLength(20_000);
  await reading.end();
});

test('a row that is gone before its large text was fetched is left to its deletion', async () => {
  await server.sql(
    'create table brief (id int primary key, body text, views int)',
    `insert into brief values (1, ${noise(20_000)}, 0)`,
  );
  const ledger = new LedgerDouble();
  await readAll(await openTable(server, 'brief'), ledger);
  await server.sql('update brief set views = 1', 'delete from brief');
  const elements = await readAll(await openTable(server, 'brief'), ledger);
  expect(elements).toMatchObject([{ kind: 'deletion', id: '1' }]);
  expect(ledger.texts()).toEqual({});
});

test('a truncated table loses all its documents, and only they, whatever else is in the statement', async () => {
  await server.sql(
    'create table owners (id int primary key, body text)',
    'create table pets (id int primary key, owner int references owners, body text)',
    'create table wild (id int primary key, body text)',
    ...['owners', 'wild'].map(
      (table) => `insert into ${table} select n, 'text ' || n from generate_series(1, 30) n`,
    ),
    "insert into pets select n, n, 'pet ' || n from generate_series(1, 30) n",
  );
  const tables = ['owners', 'pets', 'wild'].map((table) => ({ table, text: 'body' }));
  const reading = follow(await openTable(server, 'cleared', { tables }));
  await reading.caughtUp();
  expect(Object.keys(reading.ledger.texts())).toHaveLength(90);
  await server.sql('truncate owners, pets cascade', "insert into owners values (1, 'anew')");
  await reading.caughtUp();
  const left = reading.ledger.texts();
  expect(left['owners/1']).toBe('anew');
  expect(Object.keys(left).filter((id) => id.startsWith('wild/'))).toHaveLength(30);
  expect(Object.keys(left)).toHaveLength(31);
  await reading.end();
});

test('several tables keep their documents apart; several id columns name one row', async () => {
  await server.sql(
    'create table left_part (a text, b int, body text, primary key (a, b))',
    'create table right_part (id int primary key, body text)',
    "insert into left_part values ('x/y', 1, 'one'), ('x', 2, 'two')",
    "insert into right_part values (1, 'three')",
  );
  const ledger = new LedgerDouble();
  const tables = ['left_part', 'right_part'].map((table) => ({ table, text: 'body' }));
  await readAll(await openTable(server, 'parts', { tables }), ledger);
  expect(ledger.texts()).toEqual({
    'left_part/x%2Fy/1': 'one',
    'left_part/x/2': 'two',
    'right_part/1': 'three',
  });
});

test('a row over the limit is refused by its size, from the table and from the stream', async () => {
  await server.sql(
    'create table large (id int primary key, body text)',
    `insert into large values (1, repeat('x', 5000)), (2, 'small')`,
  );
  const reading = follow(await openTable(server, 'large'), new LedgerDouble(), { maxItemBytes: 1_000 });
  const tooLarge = (id: string) => ({ kind: 'unreadable', id, error: { code: 'item_too_large' } });
  expect(await reading.caughtUp()).toMatchObject([tooLarge('1'), { kind: 'document', id: '2' }]);
  await server.sql(`insert into large values (3, repeat('y', 5000))`, "insert into large values (4, 'z')");
  expect(await reading.caughtUp()).toMatchObject([tooLarge('3'), { kind: 'document', id: '4' }]);
  await reading.end();
});

test('a row that is fetched is whole: nothing of what it was then is mixed with what it is now', async () => {
  await server.sql(
    'create table mixed (id int primary key, body text, lang text)',
    'alter table mixed alter column body set storage external',
    `insert into mixed values (1, ${noise(4_000)}, 'en')`,
  );
  const reading = follow(await openTable(server, 'mixed'));
  await reading.caughtUp();
  await server.sql("update mixed set lang = 'de'", "update mixed set body = 'short', lang = 'fr'");
  const elements = await reading.caughtUp();
  expect(elements).toMatchObject([
    { id: '1', text: 'short', metadata: { lang: 'fr' } },
    { id: '1', text: 'short', metadata: { lang: 'fr' } },
  ]);
  await reading.end();
});
