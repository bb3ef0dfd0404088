import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { openRedisCache } from '../../../connectors/redis/cache.js';
import { redisCacheConfig, redisLookupConfig } from '../../../connectors/redis/config.js';
import { openRedisLookup } from '../../../connectors/redis/lookup.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { testContext } from '../../support/test-context.js';

let redis: RedisService;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const signal = () => new AbortController().signal;
const open = (input: Partial<z.input<typeof redisLookupConfig>> = {}) =>
  openRedisLookup(redisLookupConfig.parse({ url: redis.url, ...input }), {
    ...testContext(),
    concurrency: 2,
  });

test('hashes are rows of texts; a key that is no hash fails alone', async () => {
  await redis.client.hset('author:1', { name: 'Al', team: 'docs' });
  await redis.client.set('author:2', 'no hash');
  const lookup = await open({ pattern: 'author:{key}' });
  const found = await lookup.find(['1', '2', '3', '$&'], signal());
  expect(found).toMatchObject([
    { name: 'Al', team: 'docs' },
    { code: 'transform_failed' },
    undefined,
    undefined,
  ]);
  expect(found[1]).toBeInstanceOf(Error);
  await lookup.close();
});

test('strings are rows of JSON; what is no object fails alone', async () => {
  const row = { name: 'Al', deep: { n: [1, null] } };
  await redis.client.mset('j1', JSON.stringify(row), 'j2', '{broken', 'j3', '[1]', 'j4', 'null');
  await redis.client.hset('j5', 'a', 'b');
  const lookup = await open({ as: 'json' });
  const found = await lookup.find(['j1', 'j2', 'j3', 'j4', 'j5', 'j6'], signal());
  expect(found.map((one) => (one instanceof Error ? 'error' : one))).toEqual([
    row,
    'error',
    'error',
    'error',
    'error',
    undefined,
  ]);
  await lookup.close();
});

test('many keys are one round', async () => {
  const lookup = await open({ pattern: 'many:{key}' });
  const keys = Array.from({ length: 2_000 }, (_, at) => String(at));
  for (const key of keys.slice(0, 10)) await redis.client.hset(`many:${key}`, 'n', key);
  const found = await lookup.find(keys, signal());
  expect(found.filter((row) => row !== undefined)).toEqual(keys.slice(0, 10).map((n) => ({ n })));
  await lookup.close();
});

test('a server that is away, refuses or is stuck is told apart; one that is back answers', async () => {
  await redis.client.hset('h', 'a', 'b');
  const lookup = await open();
  await lookup.probe(signal());
  await redis.restart();
  await expect.poll(() => lookup.find(['h'], signal()).catch(() => 'away')).toEqual([{ a: 'b' }]);
  await redis.client.call('CLIENT', 'PAUSE', '4000', 'ALL');
  const stop = new AbortController();
  const began = Date.now();
  const asked = lookup.find(['h'], stop.signal);
  setTimeout(() => stop.abort(new Error('late')), 100);
  await expect(asked).rejects.toThrow('late');
  expect(Date.now() - began).toBeLessThan(3_000);
  await redis.client.call('CLIENT', 'UNPAUSE').catch(() => undefined);
  expect(await lookup.find(['h'], signal())).toEqual([{ a: 'b' }]);
  await lookup.close();
  const nobody = await open({ url: 'redis://127.0.0.1:1' });
  await expect(nobody.find(['h'], signal())).rejects.toMatchObject({ code: 'remote_unavailable' });
  await nobody.close();
  const guarded = await startRedis({ requirepass: 'secret' });
  const stranger = await open({ url: guarded.url.replace(':secret@', '') });
  await expect(stranger.find(['h'], signal())).rejects.toMatchObject({ code: 'remote_refused' });
  await stranger.close();
  await guarded.stop();
});

test('a cache gives back what it was given, under its prefix, until the time is over', async () => {
  const cache = await openRedisCache(redisCacheConfig.parse({ url: redis.url, prefix: 'p:' }), testContext());
  await cache.set(
    [
      { key: 'a', value: '1', ttlMs: 60_000 },
      { key: 'b', value: '2', ttlMs: 2_000 },
    ],
    signal(),
  );
  expect(await cache.get(['b', 'x', 'a'], signal())).toEqual(['2', undefined, '1']);
  expect(await redis.client.pttl('p:a')).toBeGreaterThan(50_000);
  await expect.poll(() => cache.get(['b', 'a'], signal())).toEqual([undefined, '1']);
  await cache.close();
});
