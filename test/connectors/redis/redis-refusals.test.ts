import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { addDocuments, applying, codes, follow, openStream, until } from './bed.js';

let redis: RedisService;
let proxy: TcpProxy;
let streams = 0;
let stream: string;
const group = 'millrace-test';
const timeoutMs = 600;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(redis.url).port));
  stream = `stream-${(streams += 1)}`;
  await redis.client.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
});
afterEach(() => proxy.stop());

const reading = () => applying(redis, stream, { url: proxy.through(redis.url), timeoutMs, claimIdleMs: 400 });

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
