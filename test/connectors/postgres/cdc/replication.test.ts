import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Interrupted } from '../../../../connectors/postgres/cdc/interrupted.js';
import { Replication } from '../../../../connectors/postgres/cdc/replication.js';
import { openSqlSession } from '../../../../connectors/postgres/cdc/sql-session.js';
import { systemClock } from '../../../../src/flow/system-clock.js';
import { startTcpProxy, type TcpProxy } from '../../../support/faults/tcp-proxy.js';
import { LedgerDouble } from '../../../support/ledger-double.js';
import { patience } from '../../../suites/store-harness.js';
import { follow, openTable, readAll, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
let proxy: TcpProxy;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(server.url).port));
});
afterEach(() => proxy.stop());

const timeoutMs = 400;
const open = (url = proxy.through(server.url)) => Replication.open({ url, timeoutMs }, 'test', systemClock);

// Before the server has said anything, while it asks who this is, and while it sets the session up.
test.each([0, 480])(
  'a connection that is swallowed after %d bytes, while it is made, is given up',
  async (bytes) => {
    proxy.blackHoleAfter(bytes, 'down');
    await expect(open()).rejects.toBeInstanceOf(Interrupted);
    proxy.heal();
    proxy.blackHoleAfter(bytes, 'down');
    const made = openSqlSession({ url: proxy.through(server.url), timeoutMs }, 'test', systemClock);
    await expect(made).rejects.toBeInstanceOf(Interrupted);
  },
);

test('a stream that the server does not answer for is given up', async () => {
  const replication = await open();
  proxy.blackHole();
  await expect(replication.identify()).rejects.toBeInstanceOf(Interrupted);
  const other = await startTcpProxy(Number(new URL(server.url).port));
  const second = await open(other.through(server.url));
  other.blackHole();
  const listener = { message: () => undefined, keepalive: () => undefined, ended: () => undefined };
  const started = second.start({ slot: 'none', publication: 'none', from: 0n }, listener);
  await expect(started).rejects.toBeInstanceOf(Interrupted);
  await Promise.all([replication.close(), second.close()]);
  await other.stop();
});

test('a stop comes through while a connection is being made that nobody answers', async () => {
  await server.sql('create table stopped (id int primary key, body text)');
  const reading = follow(await openTable({ url: proxy.through(server.url) }, 'stopped'));
  const made = proxy.made;
  proxy.blackHole();
  const next = expect(reading.next()).rejects.toThrow('ended');
  await expect.poll(() => proxy.made).toBeGreaterThan(made);
  const began = performance.now();
  await reading.end();
  await next;
  // The default is to wait for 30 s.
  expect(performance.now() - began).toBeLessThan(3_000);
});

test('a message that cannot be read ends the reading with what is wrong, and nothing is lost', async () => {
  await server.sql(
    'create table garbled (id int primary key, body text)',
    "insert into garbled values (1, 'one')",
  );
  const ledger = new LedgerDouble();
  const bed = await openTable({ url: proxy.through(server.url) }, 'garbled');
  const reading = follow(bed, ledger);
  await reading.caughtUp();
  // The length of the value, which stands before it.
  proxy.alter((data) => {
    const at = data.indexOf('garbled three');
    if (at !== -1) data.writeUInt32BE(1_000_000, at - 4);
    return data;
  });
  await server.sql(
    "insert into garbled values (2, 'two')",
    "insert into garbled values (3, 'garbled three')",
    "insert into garbled values (4, 'four')",
  );
  const rest = (async () => {
    for (;;) await ledger.apply(await reading.next());
  })();
  await expect(rest).rejects.toMatchObject({
    code: 'source_unavailable',
    message: expect.stringMatching(/cannot be read/),
    hint: expect.stringMatching(/comes again/),
  });
  await readAll(await openTable(server, 'garbled'), ledger);
  expect(ledger.texts()).toEqual({ 1: 'one', 2: 'two', 3: 'garbled three', 4: 'four' });
});

test.each(['scram-sha-256', 'md5', 'password'])(
  'changes are read by a role with a password, by the method %s; another password is refused',
  async (method) => {
    const role = method.replaceAll('-', '_');
    const client = await server.connect();
    await client.query(`set password_encryption to '${method === 'password' ? 'md5' : method}'`);
    await client.query(`create role ${role} login replication superuser password 'right'`);
    await client.end();
    await server.restart({
      prepare: (folder) =>
        writeFile(
          join(folder, 'pg_hba.conf'),
          `host all ${role} 127.0.0.1/32 ${method}\nhost all postgres 127.0.0.1/32 trust\n`,
        ),
    });
    const url = (password: string) => server.url.replace('postgres@', `${role}:${password}@`);
    const replication = await open(url('right'));
    expect((await replication.identify()).timeline).toBe(1);
    await replication.close();
    await expect(open(url('wrong'))).rejects.toMatchObject({ code: '28P01' });
  },
);
