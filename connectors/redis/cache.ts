import { resolve } from 'node:path';
import type { LookupCache, LookupCacheFactory } from '../../src/contracts/lookup.js';
import type { RedisCacheConfig } from './config.js';
import { lookupClient } from './lookup-client.js';

/** Keeps answers of look-ups in a Redis server, for all processes that ask the same. */
export const openRedisCache: LookupCacheFactory<RedisCacheConfig> = async (given, context) => {
  const config = { ...given, ...(given.ca !== undefined && { ca: resolve(context.baseFolder, given.ca) }) };
  const { prefix } = config;
  const client = lookupClient(config, 'millrace cache');
  return {
    get: (keys, signal) =>
      client.use(signal, async (redis) => {
        const values = await redis.mget(keys.map((key) => prefix + key));
        return values.map((value) => value ?? undefined);
      }),
    set: (entries, signal) =>
      client.use(signal, async (redis) => {
        const pipeline = redis.pipeline();
        for (const { key, value, ttlMs } of entries) pipeline.set(prefix + key, value, 'PX', ttlMs);
        for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
      }),
    close: () => client.close(),
  } satisfies LookupCache;
};
