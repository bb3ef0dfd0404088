import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ElementsDelivery } from '../../../../src/contracts/source.js';
import { startTcpProxy } from '../../../support/faults/tcp-proxy.js';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, readAll, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

test('rows are read while changes flow, over stops in the middle, and the end is the table', async () => {
  await server.sql(
    'create table live (id int primary key, body text)',
    "insert into live select n, 'row ' || n from generate_series(1, 2400) n",
  );
  const ledger = new LedgerDouble();
  const input = { batch: 100 };
  const rowsKept = async () => {
    const memory = (await ledger.state.read()) as
      { readonly backfill: { readonly rows: number } } | undefined;
    return memory?.backfill.rows ?? 0;
  };
  let read = 0;
  for (let round = 0; round < 3; round += 1) {
    const reading = follow(await openTable(server, 'live', input), ledger);
    let durable = await rowsKept();
    for (let turn = 0; turn < 6; turn += 1) {
      const delivery = await reading.elements();
      if (delivery.progress !== undefined) {
        read += delivery.elements.length;
        durable += delivery.elements.length;
      }
      await ledger.apply(delivery);
      await server.sql(
        `update live set body = body || '!' where id % 500 = ${turn}`,
        `delete from live where id % 700 = ${turn + 10 * round}`,
        `insert into live values (${10_000 + round * 100 + turn}, 'new')`,
      );
    }
    // What is durable is kept once a second; the next one is handed over and lost.
    await expect.poll(rowsKept).toBe(durable);
    await reading.elements();
    await reading.end();
  }
  const reading = follow(await openTable(server, 'live', input), ledger);
  for (;;) {
    const delivery = await reading.next();
    if (delivery.kind === 'caught-up') break;
    if (delivery.kind === 'elements' && delivery.progress !== undefined) read += delivery.elements.length;
    await ledger.apply(delivery);
  }
  await reading.end();
  const { rows } = await server.sql('select id::text, body from live order by 1');
  expect(Object.entries(ledger.texts()).sort()).toEqual(
    (rows as { id: string; body: string }[]).map(({ id, body }) => [id, body]).sort(),
  );
  expect(read).toBeLessThan(2_900);
  expect(await readAll(await openTable(server, 'live', input), ledger)).toEqual([]);
});

test('a row that was read loses to any change in the stream, however late it is written; a deleted row stays deleted', async () => {
  await server.sql(
    'create table raced (id int primary key, body text)',
    "insert into raced values (1, 'old'), (2, 'old')",
  );
  const ledger = new LedgerDouble();
  const reading = follow(await openTable(server, 'raced'), ledger);
  const rows = await reading.elements();
  expect(rows.progress).toBeDefined();
  await server.sql("update raced set body = 'new' where id = 1", 'delete from raced where id = 2');
  const changes: ElementsDelivery[] = [];
  for (let count = 0; count < 2; count += changes.at(-1)!.elements.length)
    changes.push(await reading.elements());
  for (const change of changes) await ledger.apply(change);
  await ledger.apply(rows);
  expect(ledger.texts()).toEqual({ 1: 'new' });
  await reading.end();
});

test('what was deleted while nobody read is gone after the reading of all rows', async () => {
  await server.sql(
    'create table swept (id int primary key, body text)',
    "insert into swept values (1, 'one')",
  );
  const ledger = new LedgerDouble();
  ledger.rows.set('9', {
    version: '00000000.0000000000000001.0000000000000001' as never,
    state: 'stored',
    hash: 'x',
    text: 'left over',
  });
  await readAll(await openTable(server, 'swept'), ledger);
  expect(ledger.texts()).toEqual({ 1: 'one' });
});

test('a stream whose connection is ended during the reading of rows goes on by itself', async () => {
  await server.sql(
    'create table cut (id int primary key, body text)',
    "insert into cut select n, 'row' from generate_series(1, 1000) n",
  );
  const ledger = new LedgerDouble();
  const bed = await openTable(server, 'cut', { batch: 100 });
  const reading = follow(bed, ledger);
  await ledger.apply(await reading.elements());
  await server.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'millrace cut'",
    "insert into cut values (2000, 'later')",
  );
  await reading.caughtUp();
  expect(Object.keys(ledger.texts())).toHaveLength(1_001);
  // The reader may be back before the server has freed the slot.
  const told = bed.notices.map(({ code }) => code).filter((code) => code !== 'slot_busy');
  expect(told).toEqual(['source_interrupted', 'source_resumed']);
  await reading.end();
});

test('a connection that dies in silence during the reading of rows is made anew, and reading and stream go on', async () => {
  await server.sql(
    'create table hushed (id int primary key, body text)',
    "insert into hushed select n, 'row' from generate_series(1, 1000) n",
  );
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  try {
    const ledger = new LedgerDouble();
    const bed = await openTable({ url: proxy.through(server.url) }, 'hushed', {
      ...{ batch: 100, timeoutMs: 1_000, takeoverMs: 1_000 },
    });
    const reading = follow(bed, ledger);
    await ledger.apply(await reading.elements());
    proxy.blackHole();
    await server.sql("insert into hushed values (2000, 'later')", 'delete from hushed where id = 1');
    const all = reading.caughtUp();
    await expect.poll(() => bed.notices.map(({ code }) => code)).toContain('source_interrupted');
    proxy.heal();
    await all;
    expect(Object.keys(ledger.texts())).toHaveLength(1_000);
    expect(ledger.texts()).toMatchObject({ 2000: 'later' });
    await reading.end();
  } finally {
    await proxy.stop();
  }
});

test('a transaction that is in the log and not yet visible is not missed by the reading of all rows', async () => {
  await server.sql(
    'create table synced (id int primary key, body text)',
    "insert into synced values (1, 'one')",
  );
  const ledger = new LedgerDouble();
  await readAll(await openTable(server, 'synced'), ledger);
  // Without its standby a commit is durable here, and seen by nobody.
  await server.sql("alter system set synchronous_standby_names = 'nobody'", 'select pg_reload_conf()');
  const standbys = async () => (await server.sql('show synchronous_standby_names')).rows;
  await expect.poll(standbys).toEqual([{ synchronous_standby_names: 'nobody' }]);
  const waiting = await server.connect();
  const committed = waiting.query("insert into synced values (2, 'two')");
  const unseen = async () =>
    (await server.sql("select from pg_stat_activity where wait_event = 'SyncRep'")).rowCount;
  await expect.poll(unseen).toBe(1);
  const reading = follow(await openTable(server, 'synced', { reread: 1 }), ledger);
  const all = reading.caughtUp();
  await delay(500);
  const release = await server.connect();
  await release.query('set synchronous_commit to local');
  await release.query('alter system reset synchronous_standby_names');
  await release.query('select pg_reload_conf()');
  await release.end();
  await committed;
  await waiting.end();
  await all;
  expect(ledger.texts()).toEqual({ 1: 'one', 2: 'two' });
  await reading.end();
});

test('while it goes on all rows are read anew as often as they are asked for', async () => {
  await server.sql(
    'create table again (id int primary key, body text)',
    "insert into again values (1, 'one'), (2, 'two')",
  );
  const reading = follow(await openTable(server, 'again'), new LedgerDouble(), { rereadEveryMs: 500 });
  await reading.caughtUp();
  // The log does not tell of the end of a partition or of a dropped table; this stands for it.
  reading.ledger.rows.set('9', { ...reading.ledger.rows.get('1')!, text: 'left over' });
  const again = await reading.elements();
  expect(again.elements.map(({ id }) => id)).toEqual(['1', '2']);
  await reading.ledger.apply(again);
  await reading.ledger.apply(await reading.next());
  expect(reading.ledger.texts()).toEqual({ 1: 'one', 2: 'two' });
  await reading.end();
});
