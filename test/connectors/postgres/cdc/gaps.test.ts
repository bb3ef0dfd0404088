import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { openTable, readAll, slotOf, startCdcServer, type CdcServer, type SourceInput } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

async function filled(table: string) {
  await server.sql(
    `create table ${table} (id int primary key, body text)`,
    `insert into ${table} values (1, 'one'), (2, 'two')`,
  );
  const ledger = new LedgerDouble();
  await readAll(await openTable(server, table), ledger);
  return ledger;
}

/** After the fault: rows 1 and 3 are there, and row 2 is gone. */
const changes = (table: string) => [
  `insert into ${table} values (3, 'three')`,
  `delete from ${table} where id = 2`,
];

async function expectReconciled(table: string, ledger: LedgerDouble, input: SourceInput = {}) {
  const bed = await openTable(server, table, input);
  const elements = await readAll(bed, ledger);
  expect(bed.notices.map(({ code }) => code)).toEqual(['source_gap']);
  expect(ledger.texts()).toEqual({ 1: 'one', 3: 'three' });
  // Newer than everything before: the epoch rose.
  expect(elements.every(({ version }) => version.startsWith('00000001.'))).toBe(true);
  await server.sql(`update ${table} set body = 'after' where id = 1`);
  await readAll(await openTable(server, table), ledger);
  expect(ledger.texts()).toEqual({ 1: 'after', 3: 'three' });
}

test('a slot that is gone is not made again in silence: all rows are read again, and what is gone is deleted', async () => {
  const ledger = await filled('gone');
  await server.sql(...changes('gone'), "select pg_drop_replication_slot('millrace_gone')");
  await expectReconciled('gone', ledger);
});

test('a slot of the same name that begins after what was read is noticed', async () => {
  const ledger = await filled('anew');
  await server.sql(
    "select pg_drop_replication_slot('millrace_anew')",
    ...changes('anew'),
    "select pg_create_logical_replication_slot('millrace_anew', 'pgoutput')",
    "insert into anew values (4, 'four')",
    'delete from anew where id = 4',
  );
  await expectReconciled('anew', ledger);
});

test('where the configuration says so a gap stops the run before anything is made or written', async () => {
  const ledger = await filled('halted');
  await server.sql(...changes('halted'), "select pg_drop_replication_slot('millrace_halted')");
  await expect(readAll(await openTable(server, 'halted', { onGap: 'stop' }), ledger)).rejects.toMatchObject({
    code: 'source_gap',
    message: 'Changes may be missing: the slot millrace_halted is gone.',
  });
  expect(await slotOf(server, 'halted')).toBeUndefined();
  expect(ledger.texts()).toEqual({ 1: 'one', 2: 'two' });
});

test('without the right to make a slot its absence is an error that says what to run', async () => {
  await server.sql(
    'create table unmade (id int primary key, body text)',
    'create publication millrace_unmade for table unmade',
  );
  await expect(
    readAll(await openTable(server, 'unmade', { make: false }), new LedgerDouble()),
  ).rejects.toMatchObject({
    code: 'config_invalid',
    hint: "Run: select pg_create_logical_replication_slot('millrace_unmade', 'pgoutput');",
  });
});

test('a mapping that changed, and a table made anew under its name, have all rows read again', async () => {
  const ledger = await filled('remapped');
  await server.sql("alter table remapped add column title text default 'T'");
  const input = { text: ['title', 'body'] };
  const bed = await openTable(server, 'remapped', input);
  await readAll(bed, ledger);
  expect(bed.notices.map(({ code }) => code)).toEqual(['source_reread']);
  expect(ledger.texts()).toEqual({ 1: 'T\n\none', 2: 'T\n\ntwo' });
  await server.sql(
    'drop table remapped',
    'create table remapped (id int primary key, title text, body text)',
    "insert into remapped values (2, 'U', 'two')",
  );
  await readAll(await openTable(server, 'remapped', input), ledger);
  expect(ledger.texts()).toEqual({ 2: 'U\n\ntwo' });
  const same = await openTable(server, 'remapped', input);
  expect(await readAll(same, ledger)).toEqual([]);
  expect((await readAll(await openTable(server, 'remapped', { ...input, reread: 1 }), ledger)).length).toBe(
    1,
  );
});

test('a slot that the server has invalidated, since it held back too much log, is made anew, and the rows are reconciled', async () => {
  const ledger = await filled('starved');
  await server.sql(
    ...changes('starved'),
    "alter system set max_slot_wal_keep_size = '1MB'",
    'select pg_reload_conf()',
  );
  for (let turn = 0; turn < 12; turn += 1) {
    await server.sql(
      'select pg_switch_wal()',
      "select pg_logical_emit_message(false, 'x', repeat('x', 100000))",
      'checkpoint',
    );
    if ((await slotOf(server, 'starved'))!.wal_status === 'lost') break;
  }
  expect((await slotOf(server, 'starved'))!.wal_status).toBe('lost');
  await server.sql('alter system reset max_slot_wal_keep_size', 'select pg_reload_conf()');
  await expectReconciled('starved', ledger);
});

test('a server on a new timeline is not trusted with the old positions, although its slot is there', async () => {
  const ledger = await filled('promoted');
  await server.sql(...changes('promoted'));
  await server.restart({
    // Recovers what it has, and goes on as a promoted server would.
    prepare: (data) => writeFile(`${data}/recovery.signal`, ''),
    settings: { restore_command: 'false' },
  });
  await expect
    .poll(async () => (await server.sql('select pg_is_in_recovery() as standby')).rows)
    .toEqual([{ standby: false }]);
  await expectReconciled('promoted', ledger);
});
