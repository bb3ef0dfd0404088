import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Delivery, SourceLag } from '../../../../src/contracts/source.js';
import { systemClock } from '../../../../src/flow/system-clock.js';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, readAll, slotOf, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

const isBefore = async (a: string, b: string) => {
  const { rows } = await server.sql(`select '${a}'::pg_lsn < '${b}'::pg_lsn as is`);
  return (rows[0] as { is: boolean }).is;
};
const endOfLog = async () =>
  ((await server.sql('select pg_current_wal_lsn() as lsn')).rows[0] as { lsn: string }).lsn;

test('what is not durable is not confirmed, whatever positions the server tells; once it is, it does not come again', async () => {
  await server.sql('create table held (id int primary key, body text)', 'create table other (id int)');
  const ledger = new LedgerDouble();
  const reading = follow(await openTable(server, 'held'), ledger);
  await reading.caughtUp();
  const before = await endOfLog();
  await server.sql("insert into held values (1, 'one')", "insert into held values (2, 'two')");
  const first = await reading.elements();
  // Ends of later transactions and signs of life go past it meanwhile.
  for (let turn = 0; turn < 4; turn += 1) {
    await server.sql(`insert into other values (${turn})`);
    await delay(600);
  }
  expect(await isBefore((await slotOf(server, 'held'))!.confirmed_flush_lsn, await endOfLog())).toBe(true);
  await reading.end();
  const again = follow(await openTable(server, 'held'), ledger);
  const redelivered = await again.elements();
  expect(redelivered.elements[0]).toEqual(first.elements[0]);
  await ledger.apply(redelivered);
  await again.caughtUp();
  expect(ledger.texts()).toEqual({ 1: 'one', 2: 'two' });
  await expect
    .poll(async () => isBefore(before, (await slotOf(server, 'held'))!.confirmed_flush_lsn))
    .toBe(true);
  await again.end();
  expect(await readAll(await openTable(server, 'held'), ledger)).toEqual([]);
});

test('over clean restarts every transaction comes exactly once', async () => {
  await server.sql('create table counted (id serial primary key, body text)');
  const ledger = new LedgerDouble();
  await readAll(await openTable(server, 'counted'), ledger);
  const seen: string[] = [];
  for (let round = 0; round < 6; round += 1) {
    const reading = follow(await openTable(server, 'counted'), ledger);
    for (let row = 0; row < 5; row += 1) await server.sql(`insert into counted (body) values ('row')`);
    seen.push(...(await reading.caughtUp()).map(({ id }) => id));
    // Between two ends: directly behind one another are two transactions.
    const client = await server.connect();
    for (let row = 0; row < 10; row += 1) await client.query(`insert into counted (body) values ('row')`);
    await client.end();
    const delivery = await reading.elements();
    await ledger.apply(delivery);
    seen.push(...delivery.elements.map(({ id }) => id));
    await reading.end();
  }
  seen.push(...(await readAll(await openTable(server, 'counted'), ledger)).map(({ id }) => id));
  expect(seen).toEqual(Array.from({ length: 90 }, (_, at) => String(at + 1)));
});

test('what is settled while the end of a reading is being kept does not come again', async () => {
  await server.sql('create table ending (id int primary key, body text)');
  const ledger = new LedgerDouble();
  await readAll(await openTable(server, 'ending'), ledger);
  await server.sql("insert into ending values (1, 'one')");
  let [ask, answer] = [() => {}, () => {}];
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const { source } = await openTable(server, 'ending');
  let ends = false;
  const reading = source
    .deliveries(
      ledger.context(systemClock, {
        state: {
          ...ledger.state,
          replace: async (expected, value) => {
            if (ends) {
              ask();
              await answered;
            }
            return ledger.state.replace(expected, value);
          },
        },
      }),
    )
    [Symbol.asyncIterator]();
  const delivery = (await reading.next()).value as Delivery;
  ends = true;
  const end = reading.next();
  await asked;
  const settled = ledger.apply(delivery);
  answer();
  expect((await end).done).toBe(true);
  await settled;
  expect(await readAll(await openTable(server, 'ending'), ledger)).toEqual([]);
});

test('a stop frees the slot at once, although nothing was settled', async () => {
  await server.sql(
    'create table stuck (id int primary key, body text)',
    "insert into stuck values (1, 'one')",
  );
  const first = follow(await openTable(server, 'stuck'));
  await first.elements();
  await first.end();
  const began = performance.now();
  const second = follow(await openTable(server, 'stuck'));
  expect((await second.elements()).elements).toMatchObject([{ id: '1' }]);
  // Without it the second one would wait until the first is taken for dead, in 30 s.
  expect(performance.now() - began).toBeLessThan(15_000);
  await second.end();
});

test('the slot of idle tables moves on, and how far it is behind is told', async () => {
  await server.sql('create table idle (id int primary key, body text)');
  const lags: SourceLag[] = [];
  const reading = follow(await openTable(server, 'idle', { heartbeatMs: 1_000 }), new LedgerDouble(), {
    lag: (lag) => lags.push(lag),
  });
  await reading.caughtUp();
  const before = (await slotOf(server, 'idle'))!.confirmed_flush_lsn;
  const next = reading.next().catch(() => undefined);
  await expect
    .poll(async () => isBefore(before, (await slotOf(server, 'idle'))!.confirmed_flush_lsn))
    .toBe(true);
  expect(lags[0]).toEqual({ bytes: expect.any(Number) as number, seconds: 0 });
  await reading.end();
  await next;
});
