import type { Connector } from '../../src/contracts/connector.js';
import { redisSourceConfig } from './config.js';

/** `source: { redis: … }` */
export const redis: Connector = {
  source: {
    schema: redisSourceConfig,
    load: async () => (await import('./source.js')).openRedisSource,
  },
};
