import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRedisCache } from '../../../connectors/redis/cache.js';
import { redisCacheConfig } from '../../../connectors/redis/config.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { createCarefulCache } from '../../../src/transforms/lookup/careful-cache.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { testContext } from '../../support/test-context.js';

let redis: RedisService;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

async function open(url: string) {
  const codes: string[] = [];
  const cache = createCarefulCache({
    cache: await openRedisCache(redisCacheConfig.parse({ url }), testContext()),
    name: 'authors',
    clock: systemClock,
    signal: new AbortController().signal,
    report: (event) => void (event.type === 'notice' && codes.push(event.code)),
  });
  return { cache, codes };
}

const unused = new AbortController().signal;
const entry = { key: 'a', value: '1', ttlMs: 60_000 };

test('a cache that is nowhere finds nothing and fails nobody, told once', async () => {
  const { cache, codes } = await open('redis://127.0.0.1:1');
  for (let round = 0; round < 20; round++) {
    expect(await cache.get(['a', 'b'], unused)).toEqual([undefined, undefined]);
    await cache.set([entry], unused);
  }
  expect(codes).toEqual(['lookup_cache_lost']);
  await cache.close();
});

test('a cache that is stuck costs half a second, then nothing; it is used again once it is back', async () => {
  const { cache, codes } = await open(redis.url);
  await cache.set([entry], unused);
  expect(await cache.get(['a'], unused)).toEqual(['1']);
  await redis.client.call('CLIENT', 'PAUSE', '3000', 'ALL');
  const began = performance.now();
  for (let round = 0; round < 50; round++) expect(await cache.get(['a'], unused)).toEqual([undefined]);
  const took = performance.now() - began;
  expect(took).toBeGreaterThan(450);
  expect(took).toBeLessThan(2_500);
  await expect.poll(() => cache.get(['a'], unused)).toEqual(['1']);
  expect(codes).toEqual(['lookup_cache_lost', 'lookup_cache_back']);
  await cache.close();
});
