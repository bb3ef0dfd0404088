import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, slotOf, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

test('a second process waits while the first reads, and goes on where it ended', async () => {
  await server.sql(
    'create table turns (id int primary key, body text)',
    "insert into turns values (1, 'one')",
  );
  const ledger = new LedgerDouble();
  const first = follow(await openTable(server, 'turns', { takeoverMs: 2_000 }), ledger);
  await first.caughtUp();
  const waiting = await openTable(server, 'turns', { takeoverMs: 2_000 });
  const second = follow(waiting, ledger);
  const elements = second.elements();
  // The first one hands nothing over meanwhile, but lives.
  await delay(3_500);
  expect(waiting.notices.map(({ code }) => code)).toEqual(['slot_busy']);
  await first.end();
  await server.sql("insert into turns values (2, 'two')");
  expect((await elements).elements).toMatchObject([{ id: '2' }]);
  await second.end();
});

test('what the first read while the second waited is no gap to the second', async () => {
  await server.sql('create table followed (id int primary key, body text)');
  const ledger = new LedgerDouble();
  const memory = async () => (await ledger.state.read()) as { readonly confirmed: string; epoch: number };
  const first = follow(await openTable(server, 'followed'), ledger);
  await first.caughtUp();
  const waiting = await openTable(server, 'followed');
  const second = follow(waiting, ledger);
  const elements = second.elements();
  await expect.poll(() => waiting.notices.map(({ code }) => code)).toEqual(['slot_busy']);
  const before = (await memory()).confirmed;
  await server.sql("insert into followed select n, 'row ' || n from generate_series(1, 200) n");
  await first.caughtUp();
  await expect.poll(async () => (await memory()).confirmed).not.toBe(before);
  await first.end();
  await server.sql("insert into followed values (1000, 'after')");
  expect((await elements).elements).toMatchObject([{ id: '1000' }]);
  expect(waiting.notices.map(({ code }) => code)).toEqual(['slot_busy']);
  expect((await memory()).epoch).toBe(0);
  await second.end();
});

test('of two that start at once one makes the slot, and the other waits until it is made', async () => {
  await server.sql('create table begun (id int primary key, body text)');
  const ledger = new LedgerDouble();
  // The slot is not made before this transaction has ended.
  const writer = await server.connect();
  await writer.query("begin; insert into begun values (1, 'one')");
  const takeoverMs = 1_000;
  const beds = [
    await openTable(server, 'begun', { takeoverMs }),
    await openTable(server, 'begun', { takeoverMs }),
  ];
  const both = beds.map((bed) => follow(bed, ledger));
  const elements = both.map((one) => one.elements());
  const codes = () => beds.flatMap(({ notices }) => notices.map(({ code }) => code));
  await expect.poll(codes).toEqual(['slot_busy']);
  // Who makes it is not taken for one that reads it and gives no sign of life.
  await delay(2 * takeoverMs);
  expect(codes()).toEqual(['slot_busy']);
  await writer.query('commit');
  await writer.end();
  expect((await Promise.race(elements)).elements).toMatchObject([{ id: '1' }]);
  expect(codes()).toEqual(['slot_busy']);
  expect(await ledger.state.read()).toMatchObject({ epoch: 0 });
  await Promise.all(both.map((one) => one.end()));
  await Promise.allSettled(elements);
});

test('a process with another mapping waits its turn too, and then reads all rows again', async () => {
  await server.sql(
    'create table mixed (id int primary key, title text, body text)',
    "insert into mixed values (1, 'T', 'one')",
  );
  const ledger = new LedgerDouble();
  const first = follow(await openTable(server, 'mixed', { takeoverMs: 1_000 }), ledger);
  await first.caughtUp();
  const second = follow(await openTable(server, 'mixed', { text: ['title', 'body'] }), ledger);
  const elements = second.elements();
  // The first one goes on, and keeps in the store how far it has come.
  await delay(1_500);
  await first.end();
  await ledger.apply(await elements);
  expect(ledger.texts()).toEqual({ 1: 'T\n\none' });
  await second.end();
});

test('a reader that gives no sign of life is cut off, and what it settles later counts for nothing', async () => {
  await server.sql(
    'create table stale (id int primary key, body text)',
    "insert into stale values (1, 'one')",
  );
  const ledger = new LedgerDouble();
  let cutOff = false;
  const state = {
    read: () => ledger.state.read(),
    // Its store is out of reach.
    replace: (...args: Parameters<typeof ledger.state.replace>) =>
      cutOff ? new Promise<boolean>(() => undefined) : ledger.state.replace(...args),
  };
  const first = follow(await openTable(server, 'stale'), ledger, { state });
  await first.caughtUp();
  const memory = async () => (await ledger.state.read()) as { readonly backfill: object | null };
  await expect.poll(async () => (await memory()).backfill).toBe(null);
  await server.sql("insert into stale values (2, 'two')");
  const late = await first.elements();
  cutOff = true;
  const waiting = await openTable(server, 'stale', { takeoverMs: 1_000 });
  const second = follow(waiting, ledger);
  const again = await second.elements();
  expect(again.elements).toMatchObject([{ id: '2' }]);
  expect(waiting.notices.map(({ code }) => code)).toEqual(['slot_busy', 'slot_taken_over']);
  await late.settle([{ kind: 'stored', chunks: 1, embedded: 1 }]);
  const held = (await ledger.state.read()) as { holder: string };
  await delay(500);
  expect(((await ledger.state.read()) as { holder: string }).holder).toBe(held.holder);
  await ledger.apply(again);
  await second.end();
  await first.end();
});

test.each([
  ['stop', true],
  ['drop', false],
] as const)('a slot that holds back more log than it may ends the run: %s', async (action, slotStays) => {
  const table = `behind_${action}`;
  await server.sql(`create table ${table} (id int primary key, body text)`);
  const ledger = new LedgerDouble();
  const reading = follow(await openTable(server, table, { lag: { maxBytes: 1, action } }), ledger);
  await server.sql(`insert into ${table} select n, repeat('x', 1000) from generate_series(1, 1000) n`);
  await expect(
    (async () => {
      for (;;) await ledger.apply(await reading.next());
    })(),
  ).rejects.toMatchObject({ code: 'source_behind', message: expect.stringContaining('1 are allowed') });
  expect((await slotOf(server, table)) !== undefined).toBe(slotStays);
});
