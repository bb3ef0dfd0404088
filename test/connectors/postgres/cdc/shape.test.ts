import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, readAll, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

const metadataOf = (elements: readonly object[]) =>
  elements.map((element) => ('metadata' in element ? element.metadata : undefined));

test('after a change of the table values are found by name, by its newest shape', async () => {
  await server.sql('create table shaped (id int primary key, a text, b text, body text)');
  const reading = follow(await openTable(server, 'shaped'));
  await reading.caughtUp();
  await server.sql(
    "insert into shaped values (1, 'a1', 'b1', 'x')",
    'alter table shaped add column d int',
    "insert into shaped values (2, 'a2', 'b2', 'x', 2)",
    'alter table shaped drop column a',
    "insert into shaped values (3, 'b3', 'x', 3)",
    'alter table shaped drop column d',
    'alter table shaped add column d text',
    "insert into shaped values (4, 'b4', 'x', 'four')",
  );
  expect(metadataOf(await reading.caughtUp())).toEqual([
    { a: 'a1', b: 'b1' },
    { a: 'a2', b: 'b2', d: 2 },
    { b: 'b3', d: 3 },
    { b: 'b4', d: 'four' },
  ]);
  await reading.end();
});

test('a text column that is renamed stops the source before anything of it is written; once it is named, nothing is missing', async () => {
  await server.sql(
    'create table renamed (id int primary key, body text)',
    "insert into renamed values (1, 'one')",
  );
  const ledger = new LedgerDouble();
  const reading = follow(await openTable(server, 'renamed'), ledger);
  await reading.caughtUp();
  await server.sql(
    "insert into renamed values (2, 'two')",
    'alter table renamed rename body to content',
    "insert into renamed values (3, 'three')",
    'delete from renamed where id = 1',
  );
  await expect(reading.caughtUp()).rejects.toMatchObject({
    code: 'source_changed',
    message: expect.stringMatching(
      /^public\.renamed has no column body any more, as of LSN [0-9A-F]+\/[0-9A-F]+/,
    ),
  });
  expect(ledger.texts()).toEqual({ 1: 'one', 2: 'two' });
  await expect(openTable(server, 'renamed')).rejects.toMatchObject({
    code: 'config_invalid',
    message: 'public.renamed has no column body.',
  });
  await readAll(await openTable(server, 'renamed', { text: 'content' }), ledger);
  expect(ledger.texts()).toEqual({ 2: 'two', 3: 'three' });
});

test('a text column that takes another type stops the source, until the configuration says that it may', async () => {
  await server.sql(
    'create table retyped (id int primary key, body text)',
    `insert into retyped values (1, '{"a":1}')`,
  );
  const ledger = new LedgerDouble();
  const reading = follow(await openTable(server, 'retyped'), ledger);
  await reading.caughtUp();
  await server.sql(
    'alter table retyped alter body type jsonb using body::jsonb',
    `insert into retyped values (2, '{"b":2}')`,
  );
  await expect(reading.caughtUp()).rejects.toMatchObject({
    code: 'source_changed',
    message: expect.stringContaining('Column body of public.retyped was text and is json, as of LSN'),
  });
  await expect(readAll(await openTable(server, 'retyped'), ledger)).rejects.toMatchObject({
    code: 'source_changed',
  });
  await readAll(await openTable(server, 'retyped', { types: { body: 'json' } }), ledger);
  expect(ledger.texts()).toEqual({ 1: '{"a": 1}', 2: '{"b": 2}' });
});

test('partitions are one table: changes and deletions in old ones and new ones, whatever their replica identity', async () => {
  await server.sql(
    'create table parted (id int, day date, body text, primary key (id, day)) partition by range (day)',
    "create table parted_1 partition of parted for values from ('2024-01-01') to ('2024-02-01')",
    'alter table parted replica identity full',
    'alter table parted_1 replica identity full',
    "insert into parted values (1, '2024-01-05', 'one')",
  );
  const reading = follow(await openTable(server, 'parted'));
  await reading.caughtUp();
  await server.sql(
    "create table parted_2 partition of parted for values from ('2024-02-01') to ('2024-03-01')",
    "insert into parted values (2, '2024-02-05', 'two'), (3, '2024-02-06', 'three')",
    "update parted set body = body || '!'",
    'delete from parted where id in (1, 3)',
  );
  await reading.caughtUp();
  expect(reading.ledger.texts()).toEqual({ '2/2024-02-05': 'two!' });
  await reading.end();
});

test('a table or a publication that could not tell of deletions is refused, with what mends it', async () => {
  await server.sql(
    'create table keyless (body text)',
    'create table faceless (id int primary key, body text)',
    'alter table faceless replica identity nothing',
    'create table loose (id int, body text)',
    'create table narrow (id int primary key, body text, lang text)',
    'create publication narrow_pub for table narrow (id, body)',
    "create publication inserts for table narrow with (publish = 'insert')",
    "create publication partial for table narrow where (lang = 'en')",
    'create view seen as select 1 as id',
    'create table computed (id int primary key, raw text, body text generated always as (raw) stored)',
  );
  const refused = (table: string, message: RegExp, input: object = {}) =>
    expect(
      openTable(server, 'refusals', { table, text: 'body', ...input }).then((bed) =>
        readAll(bed, new LedgerDouble()),
      ),
    ).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/./),
    });
  await refused('nowhere', /no table nowhere/);
  await refused('keyless', /no primary key/);
  await refused('faceless', /replica identity of faceless leaves out the id/);
  await refused('loose', /does not name one row for sure/, { id: 'id' });
  await refused('narrow', /leaves out lang/, { publication: 'narrow_pub' });
  await refused('narrow', /does not carry all changes/, { publication: 'inserts' });
  await refused('narrow', /leaves out rows of narrow/, { publication: 'partial' });
  await refused('narrow', /no publication absent/, { publication: 'absent', make: false });
  await refused('seen', /no ordinary table/);
  await refused('computed', /a generated column body/);
  const { rows } = await server.sql('select from pg_replication_slots');
  expect(rows.length).toBeLessThan(6);
  await readAll(
    await openTable(server, 'narrow', { publication: 'narrow_pub', metadata: [] }),
    new LedgerDouble(),
  );
});
