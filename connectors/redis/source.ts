import { resolve } from 'node:path';
import type { Source, SourceFactory } from '../../src/contracts/source.js';
import type { RedisSourceConfig } from './config.js';
import { describeStream } from './describe-stream.js';
import { readHistory } from './read-history.js';
import { Reading } from './reading.js';

/** Documents from a Redis stream. @throws MillraceError `source_unavailable` when Redis cannot be reached */
export const openRedisSource: SourceFactory<RedisSourceConfig> = async (given, context) => {
  const config = {
    ...given,
    ...(given.ca !== undefined && { ca: resolve(context.baseFolder, given.ca) }),
  };
  const name = config.name ?? `redis:${config.stream}`;
  await describeStream(config);
  return {
    name,
    endless: true,
    probe: async () => describeStream(config),
    history: (source) => readHistory(config, source),
    deliveries: (source) => new Reading(config, context, source).deliveries(),
  } satisfies Source;
};
