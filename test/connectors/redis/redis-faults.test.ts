import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LedgerDouble } from '../../support/ledger-double.js';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { addDocuments, follow, openStream } from './bed.js';

let redis: RedisService;
let proxy: TcpProxy;
let streams = 0;
let stream: string;
const group = 'millrace-test';
/** On a busy machine an answer may take some hundred milliseconds without any fault. */
const timeoutMs = 1_000;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(redis.url).port));
  stream = `stream-${(streams += 1)}`;
});
afterEach(() => proxy.stop());

beforeEach(() => redis.client.xgroup('CREATE', stream, group, '0', 'MKSTREAM'));

/** A reading by way of the proxy, whose deliveries are applied as they come. */
async function reading(input: Parameters<typeof openStream>[2] = { timeoutMs }) {
  const bed = await openStream(redis, stream, { url: proxy.through(redis.url), claimIdleMs: 400, ...input });
  const ledger = new LedgerDouble();
  const following = follow(bed, ledger);
  let going = true;
  const applied = (async () => {
    while (going) await ledger.apply(await following.next());
  })().catch((error: unknown) => {
    if (going) throw error;
  });
  return {
    notices: bed.notices,
    /** Resolves once these are the texts, and nothing is unconfirmed. */
    async holds(texts: Record<string, string>) {
      await until(async () => {
        const [pending] = (await redis.client.xpending(stream, group)) as [number];
        return pending === 0 && JSON.stringify(ledger.texts()) === JSON.stringify(texts);
      });
    },
    async end() {
      going = false;
      await following.end();
      await applied;
    },
  };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await condition()); await delay(10))
    if (Date.now() > deadline) throw new Error('It did not happen within 30 s.');
}

const codes = (notices: readonly { code: string }[]) => notices.map(({ code }) => code);

test('a connection that is cut in the middle of an answer loses nothing', async () => {
  const reader = await reading();
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  proxy.cutAfter(40, 'down');
  await addDocuments(redis, stream, [['b', 'bees '.repeat(100)]]);
  await reader.holds({ a: 'ants', b: 'bees '.repeat(100) });
  await reader.end();
});

test('a round that was read ahead is handed over, though its connection is lost and none can be made', async () => {
  const input = { url: proxy.through(redis.url), timeoutMs: 6_000, claimIdleMs: 6_000, count: 1 };
  const following = follow(await openStream(redis, stream, input), new LedgerDouble());
  await addDocuments(redis, stream, [
    ['a', 'ants'],
    ['b', 'bees'],
    ['c', 'cows'],
  ]);
  await following.next();
  await until(async () => ((await redis.client.xpending(stream, group)) as [number])[0] === 2);
  await delay(100);
  proxy.refuse();
  proxy.cut();
  await delay(100);
  const next = following.next();
  await delay(300);
  proxy.heal();
  // On a busy machine it may have been on its way: then it comes again, after the last one.
  const ids = [await next, await following.next()].flatMap(({ elements }) => elements.map(({ id }) => id));
  expect(ids.sort()).toEqual(['b', 'c']);
  await following.end();
});

test('connections that are swallowed are given up after the time-out, and what was read on them comes again', async () => {
  const reader = await reading();
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  // Redis takes the read for done; the entries never arrive.
  proxy.blackHole('down');
  await addDocuments(redis, stream, [['b', 'bees']]);
  await until(async () => codes(reader.notices).includes('source_interrupted'));
  await addDocuments(redis, stream, [['c', 'cows']]);
  await delay(1.5 * timeoutMs);
  proxy.heal();
  await reader.holds({ a: 'ants', b: 'bees', c: 'cows' });
  await until(async () => codes(reader.notices).includes('source_resumed'));
  expect(codes(reader.notices)).toEqual(['source_interrupted', 'source_resumed']);
  await reader.end();
});

test('an outage is told of while nothing more is read, since what was read cannot be confirmed', async () => {
  const bed = await openStream(redis, stream, { url: proxy.through(redis.url), timeoutMs });
  const following = follow(bed, new LedgerDouble());
  await addDocuments(redis, stream, [
    ['a', 'ants'],
    ['b', 'bees'],
  ]);
  const delivery = await following.next();
  proxy.blackHole();
  const settled = delivery.settle([]);
  await until(async () => codes(bed.notices).includes('source_interrupted'));
  proxy.heal();
  await settled;
  expect(codes(bed.notices)).toEqual(['source_interrupted']);
  await addDocuments(redis, stream, [['c', 'cows']]);
  expect((await following.next()).elements).toMatchObject([{ id: 'c' }]);
  expect(codes(bed.notices)).toEqual(['source_interrupted', 'source_resumed']);
  await following.end();
});

test('a confirmation that is swallowed is made again', async () => {
  const reader = await reading();
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  proxy.blackHole('up');
  await delay(50);
  proxy.heal();
  await addDocuments(redis, stream, [['b', 'bees']]);
  await reader.holds({ a: 'ants', b: 'bees' });
  await reader.end();
});

test('a server that starts again on what it had written is read on, with one notice for the outage', async () => {
  const reader = await reading();
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  await redis.restart();
  await addDocuments(redis, stream, [['b', 'bees']]);
  await reader.holds({ a: 'ants', b: 'bees' });
  await until(async () => codes(reader.notices).includes('source_resumed'));
  expect(codes(reader.notices)).toEqual(['source_interrupted', 'source_resumed']);
  await reader.end();
});

test('a quiet stream is waited on for longer than the time-out without an interruption', async () => {
  const reader = await reading();
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  await delay(2 * timeoutMs);
  expect(reader.notices).toEqual([]);
  await reader.end();
});

test('a stop comes through a swallowed connection at once', async () => {
  const reader = await reading({ timeoutMs: 20_000 });
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  proxy.blackHole();
  const began = performance.now();
  await reader.end();
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('a stop comes through at once while a connection is being made that nobody answers', async () => {
  const following = follow(
    await openStream(redis, stream, { url: proxy.through(redis.url) }),
    new LedgerDouble(),
  );
  const { made } = proxy;
  proxy.blackHole();
  const next = expect(following.next()).rejects.toThrow('The source ended.');
  await until(() => Promise.resolve(proxy.made > made));
  const began = performance.now();
  await following.end();
  await next;
  expect(performance.now() - began).toBeLessThan(1_000);
});

test('a reply that cannot be read ends the reading with what is wrong, and nothing is lost', async () => {
  const bed = await openStream(redis, stream, { url: proxy.through(redis.url), claimIdleMs: 400 });
  const following = follow(bed, new LedgerDouble());
  await addDocuments(redis, stream, [['a', 'ants']]);
  expect((await following.next()).elements).toMatchObject([{ id: 'a' }]);
  proxy.alter((data) =>
    Buffer.from(data.toString('latin1').replace('$12\r\ngarbled', '?12\r\ngarbled'), 'latin1'),
  );
  const next = expect(following.next()).rejects.toMatchObject({
    code: 'source_unavailable',
    message: expect.stringMatching(/^What Redis sent cannot be read: .* byte 63/),
    hint: expect.stringMatching(/comes again/),
  });
  await addDocuments(redis, stream, [['b', 'garbled bees']]);
  await next;
  proxy.alter((data) => data);
  const reader = await reading();
  await reader.holds({ a: 'ants', b: 'garbled bees' });
  await reader.end();
});

test.each([
  ['OOM', 'maxmemory', '1', '0'],
  ['NOREPLICAS', 'min-replicas-to-write', '1', '0'],
])('a server that refuses with %s for a time is waited for', async (code, name, bad, good) => {
  const reader = await reading();
  await addDocuments(redis, stream, [['a', 'ants']]);
  await reader.holds({ a: 'ants' });
  try {
    await redis.client.config('SET', name, bad);
    await until(async () => codes(reader.notices).includes('source_interrupted'));
  } finally {
    await redis.client.config('SET', name, good);
  }
  await addDocuments(redis, stream, [['b', 'bees']]);
  await reader.holds({ a: 'ants', b: 'bees' });
  expect(reader.notices[0]!.message).toContain(`(${code})`);
  await reader.end();
});

test('a confirmation that a server refuses while it is a replica is made once it is none', async () => {
  const bed = await openStream(redis, stream, { url: redis.url, timeoutMs });
  const following = follow(bed, new LedgerDouble());
  await addDocuments(redis, stream, [
    ['a', 'ants'],
    ['b', 'bees'],
  ]);
  const delivery = await following.next();
  await redis.client.call('REPLICAOF', '127.0.0.1', '1');
  const settled = delivery.settle([]);
  await until(async () => codes(bed.notices).includes('source_interrupted'));
  await redis.client.call('REPLICAOF', 'NO', 'ONE');
  await settled;
  expect(((await redis.client.xpending(stream, group)) as [number])[0]).toBe(0);
  await following.end();
});
