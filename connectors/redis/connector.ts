import type { Connector } from '../../src/contracts/connector.js';
import {
  redisCacheConfig,
  redisFailedConfig,
  redisLookupConfig,
  redisSourceConfig,
  redisUpdatesConfig,
  type RedisLookupConfig,
} from './config.js';

/** `source: { redis: … }`, `failed: { redis: … }`, `enrich: { redis: …, cache: { redis: … } }`, `refresh: { events: { redis: … } }` */
export const redis = {
  source: {
    schema: redisSourceConfig,
    load: async () => (await import('./source.js')).openRedisSource,
  },
  failed: {
    schema: redisFailedConfig,
    load: async () => (await import('./failed.js')).openRedisFailed,
  },
  lookup: {
    schema: redisLookupConfig,
    describe: ({ pattern, as }: RedisLookupConfig) => ({ pattern, as }),
    load: async () => (await import('./lookup.js')).openRedisLookup,
  },
  cache: {
    schema: redisCacheConfig,
    load: async () => (await import('./cache.js')).openRedisCache,
  },
  updates: {
    schema: redisUpdatesConfig,
    load: async () => (await import('./updates.js')).openRedisUpdates,
  },
} satisfies Connector;
