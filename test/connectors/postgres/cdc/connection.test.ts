import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { startTlsProxy } from '../../../support/faults/tls-proxy.js';
import { startTcpProxy } from '../../../support/faults/tcp-proxy.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

test('connections that die in silence are noticed, and nothing is lost', async () => {
  await server.sql(
    'create table silent (id int primary key, body text)',
    "insert into silent values (1, 'one')",
  );
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  try {
    const ledger = new LedgerDouble();
    const bed = await openTable({ url: proxy.through(server.url) }, 'silent', {
      timeoutMs: 1_000,
      takeoverMs: 1_000,
    });
    const reading = follow(bed, ledger);
    await reading.caughtUp();
    proxy.blackHole();
    await server.sql("insert into silent values (2, 'two')");
    const elements = reading.elements();
    await expect
      .poll(() => bed.notices.map(({ code }) => code), { timeout: 20_000 })
      .toContain('source_interrupted');
    proxy.heal();
    // The server still holds the slot for the dead connection: it is ended.
    expect((await elements).elements).toMatchObject([{ id: '2', text: 'two' }]);
    expect(bed.notices.map(({ code }) => code)).toEqual([
      'source_interrupted',
      'slot_busy',
      'slot_taken_over',
      'source_resumed',
    ]);
    await reading.end();
  } finally {
    await proxy.stop();
  }
});

test('reading goes on when the server comes back, and nothing is lost', async () => {
  await server.sql('create table back (id int primary key, body text)', "insert into back values (1, 'one')");
  const ledger = new LedgerDouble();
  const reading = follow(await openTable(server, 'back'), ledger);
  await reading.caughtUp();
  const comesBack = reading.caughtUp();
  await server.restart();
  await server.sql("insert into back values (2, 'two')", 'delete from back where id = 1');
  await comesBack;
  // It may have caught up before both changes were made.
  while (Object.keys(ledger.texts()).join() !== '2') await reading.caughtUp();
  expect(ledger.texts()).toEqual({ 2: 'two' });
  await reading.end();
});

test('a server shuts down although what was read of it is not settled, and what was settled late counts', async () => {
  await server.sql('create table shut (id int primary key, body text)', "insert into shut values (1, 'one')");
  const bed = await openTable(server, 'shut');
  const reading = follow(bed);
  await reading.caughtUp();
  await server.sql("insert into shut values (2, 'two')");
  const delivery = await reading.elements();
  const { pid } = server;
  process.kill(pid, 'SIGINT');
  await expect.poll(() => isRunning(pid), { timeout: 8_000 }).toBe(false);
  await server.restart();
  await reading.ledger.apply(delivery);
  await server.sql("insert into shut values (3, 'three')");
  expect((await reading.elements()).elements).toMatchObject([{ id: '3' }]);
  await reading.end();
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a wrong password, a closed port, a missing database and a server without logical decoding are told apart', async () => {
  const plain = await startCdcServer({ wal_level: 'replica' });
  try {
    const refused = (url: string, hint: RegExp, code = 'source_unavailable') =>
      expect(openTable({ url }, 'x', { table: 'x', text: 'x', timeoutMs: 2_000 })).rejects.toMatchObject({
        code,
        hint: expect.stringMatching(hint),
      });
    await refused('postgres://postgres@127.0.0.1:1/postgres', /running/);
    await refused(server.url.replace(/postgres$/, 'nowhere'), /database/);
    await refused(server.url.replace('postgres@', 'nobody@'), /user/);
    await refused(plain.url, /wal_level = logical/, 'config_invalid');
  } finally {
    await plain.stop();
  }
});

test('a check looks without leaving a mark; an audit reads every row once', async () => {
  await server.sql(
    'create table looked (id int primary key, body text)',
    "insert into looked select n, 'row ' || n from generate_series(1, 600) n",
  );
  const { source } = await openTable(server, 'looked');
  expect(await source.probe!()).toBe(
    'public.looked by id; publication millrace_looked will be made, slot millrace_looked will be made',
  );
  const ids: string[] = [];
  const context = { signal: new AbortController().signal, maxItemBytes: 1_000 };
  for await (const element of source.audit!(context)) ids.push(element.id);
  expect(ids).toEqual(Array.from({ length: 600 }, (_, at) => String(at + 1)));
  const { rows } = await server.sql(
    "select (select count(*) from pg_publication where pubname = 'millrace_looked')::int + (select count(*) from pg_replication_slots where slot_name = 'millrace_looked')::int as marks",
  );
  expect(rows).toEqual([{ marks: 0 }]);
});

test('rows and changes are read over TLS, from a server that its certificate proves', async () => {
  await server.sql(
    'create table secured (id int primary key, body text)',
    "insert into secured select n, repeat('x', 200) || n from generate_series(1, 2000) n",
  );
  const { port, ca } = await startTlsProxy(Number(new URL(server.url).port), { asks: true });
  const url = new URL(server.url);
  url.port = String(port);
  url.searchParams.set('sslmode', 'verify-full');
  await expect(openTable({ url: url.href }, 'secured')).rejects.toMatchObject({ code: 'source_unavailable' });
  url.searchParams.set('sslrootcert', ca);
  const reading = follow(await openTable({ url: url.href }, 'secured'));
  expect(await reading.caughtUp()).toHaveLength(2_000);
  await server.sql("update secured set body = 'changed ' || body");
  const { elements } = await reading.elements();
  expect(elements[0]).toMatchObject({ id: '1', text: `changed ${'x'.repeat(200)}1` });
  await reading.end();
});
