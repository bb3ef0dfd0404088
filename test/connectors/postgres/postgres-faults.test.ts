import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import type { Store } from '../../../src/contracts/store.js';
import { patience } from '../../suites/store-harness.js';
import { kinds, layout, storing, textsOf } from '../../suites/store-samples.js';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';

let server: PostgresService;
let proxy: TcpProxy;
let store: Store;
let pipelines = 0;
let pipeline: string;
/** On a busy machine an answer may take some hundred milliseconds without any fault. */
const timeoutMs = 1_000;

beforeAll(async () => {
  server = await startPostgres();
}, patience);
afterAll(() => server?.stop(), patience);
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(server.url).port));
  pipeline = `faults-${(pipelines += 1)}`;
  const config = postgresConfig.parse({ url: proxy.through(server.url), index: 'off', timeoutMs });
  store = await createPostgresStore(config, testContext(pipeline));
  await store.prepare(layout);
  await store.sink.write([storing('a', 1, ['one'])]);
});
afterEach(async () => {
  await store.close();
  await proxy.stop();
});

async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return work(client).finally(() => client.end());
}

const big = Array.from({ length: 200 }, (_, at) => `chunk ${at} ${'x'.repeat(500)}`);

test('a write that is cut anywhere on its way takes effect whole or not at all, and can be made again', async () => {
  // From the first message to the middle of the copied rows and what follows them.
  for (const bytes of [10, 200, 1_000, 20_000, 60_000, 100_000]) {
    const [before] = await textsOf(store, 'a');
    proxy.cutAfter(bytes, 'up');
    const texts = [`after ${bytes}`, ...big];
    const writing = store.sink.write([storing('a', bytes, texts)]);
    await expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
    expect([before, `after ${bytes}`]).toContain((await textsOf(store, 'a'))[0]);
    expect(['done', 'stale']).toContain(kinds(await store.sink.write([storing('a', bytes, texts)]))[0]);
    expect(await textsOf(store, 'a')).toEqual(texts);
  }
});

test('a write whose answer is lost fails after the time-out, and made again it changes nothing', async () => {
  proxy.blackHole('down');
  const writing = store.sink.write([storing('a', 2, ['two'])]);
  const rejected = expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
  await delay(50);
  proxy.heal();
  await rejected;
  await store.sink.write([storing('a', 2, ['two'])]);
  expect(await textsOf(store, 'a')).toEqual(['two']);
});

test('a write that is swallowed on its way fails after the time-out, and passes once the way is free', async () => {
  proxy.blackHole('up');
  const writing = store.sink.write([storing('a', 2, ['two', ...big])]);
  const rejected = expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
  // The server answers others: it is this connection that is dead.
  await delay(50);
  proxy.heal();
  await rejected;
  expect(kinds(await store.sink.write([storing('a', 2, ['two'])]))).toEqual(['done']);
});

test('a transaction that is swallowed in the middle keeps its locks no longer than the time-out', async () => {
  // Its statements take effect, their answers are lost: the server waits for the next one, holding the document.
  proxy.blackHole('down');
  const swallowed = store.sink.write([storing('a', 2, ['two', ...big])]);
  const rejected = expect(swallowed).rejects.toMatchObject({ code: 'store_unavailable' });
  await delay(50);
  proxy.heal();
  const began = performance.now();
  await rejected;
  expect(kinds(await store.sink.write([storing('a', 3, ['three'])]))).toEqual(['done']);
  expect(performance.now() - began).toBeLessThan(10 * timeoutMs);
  const held = await asAdmin((client) =>
    client.query("select from pg_stat_activity where state like 'idle in transaction%'"),
  );
  expect(held.rowCount).toBe(0);
});

test('a statement that the server works on, or that waits for a lock, is waited for beyond the time-out', async () => {
  await asAdmin(async (blocker) => {
    await blocker.query('begin');
    await blocker.query('select from millrace.ledger where pipeline = $1 for update', [pipeline]);
    let over = false;
    const writing = store.sink.write([storing('a', 2, ['two'])]).finally(() => (over = true));
    await delay(3 * timeoutMs);
    expect(over).toBe(false);
    await blocker.query('rollback');
    expect(kinds(await writing)).toEqual(['done']);
  });
});

test('a server that starts again in the middle of a write takes it when it comes again', async () => {
  await asAdmin(async (blocker) => {
    blocker.on('error', () => undefined);
    await blocker.query('begin');
    await blocker.query('select from millrace.ledger where pipeline = $1 for update', [pipeline]);
    const writing = store.sink.write([storing('a', 2, ['two'])]);
    const rejected = expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
    await delay(100);
    await server.restart();
    await rejected;
  });
  expect(kinds(await store.sink.write([storing('a', 2, ['two'])]))).toEqual(['done']);
});
