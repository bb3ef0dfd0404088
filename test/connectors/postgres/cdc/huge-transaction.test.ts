import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer({ wal_sender_timeout: '2s' });
}, patience);
afterAll(() => server?.stop());

test('a huge transaction is read at the first try by a reader that stands still for longer than the server waits', async () => {
  await server.sql(
    'create table huge (id int primary key, body text)',
    "insert into huge select n, 'x' from generate_series(1, 30000) n",
  );
  const ledger = new LedgerDouble();
  const bed = await openTable(server, 'huge');
  const reading = follow(bed, ledger);
  await reading.caughtUp();
  await server.sql('delete from huge');
  let deletions = 0;
  let stood = false;
  while (deletions < 30_000) {
    const delivery = await reading.elements();
    deletions += delivery.elements.length;
    if (!stood) await delay(5_000);
    stood = true;
    await ledger.apply(delivery);
  }
  expect(deletions).toBe(30_000);
  expect(bed.notices).toEqual([]);
  expect(ledger.texts()).toEqual({});
  await reading.end();
});
