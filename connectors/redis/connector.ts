import type { Connector } from '../../src/contracts/connector.js';
import { redisFailedConfig, redisSourceConfig, redisUpdatesConfig } from './config.js';

/** `source: { redis: … }`, `failed: { redis: … }`, `refresh: { events: { redis: … } }` */
export const redis: Connector = {
  source: {
    schema: redisSourceConfig,
    load: async () => (await import('./source.js')).openRedisSource,
  },
  failed: {
    schema: redisFailedConfig,
    load: async () => (await import('./failed.js')).openRedisFailed,
  },
  updates: {
    schema: redisUpdatesConfig,
    load: async () => (await import('./updates.js')).openRedisUpdates,
  },
};
