import type { Connector } from '../../src/contracts/connector.js';
import { redisFailedConfig, redisSourceConfig } from './config.js';

/** `source: { redis: … }`, `failed: { redis: … }` */
export const redis: Connector = {
  source: {
    schema: redisSourceConfig,
    load: async () => (await import('./source.js')).openRedisSource,
  },
  failed: {
    schema: redisFailedConfig,
    load: async () => (await import('./failed.js')).openRedisFailed,
  },
};
