import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LedgerDouble } from '../../support/ledger-double.js';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { addDocuments, applying, codes, follow, openStream, until, type SourceInput } from './bed.js';

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
const reading = (input: SourceInput = { timeoutMs }) =>
  applying(redis, stream, { url: proxy.through(redis.url), claimIdleMs: 400, ...input });

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
