import { resolve } from 'node:path';
import type { ChainableCommander, Redis } from 'ioredis';
import type { Lookup, LookupFactory, LookupRow } from '../../src/contracts/lookup.js';
import { isJsonObject } from '../../src/elements/json-fields.js';
import { parseExactJson } from '../../src/elements/exact-json.js';
import type { Json } from '../../src/elements/metadata.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { replyCode } from './client.js';
import type { RedisLookupConfig } from './config.js';
import { lookupClient } from './lookup-client.js';

type Reply = [error: Error | null, result: unknown];

const mostKeys = 10_000;

/** Rows by key from a Redis server: hashes, or JSON in strings, in one pipeline for many keys. */
export const openRedisLookup: LookupFactory<RedisLookupConfig> = async (given, context) => {
  const config = { ...given, ...(given.ca !== undefined && { ca: resolve(context.baseFolder, given.ca) }) };
  const { pattern, as } = config;
  const client = lookupClient(config, 'millrace lookup');
  const ask = (pipeline: ChainableCommander, name: string): ChainableCommander =>
    as === 'hash' ? pipeline.hgetall(name) : pipeline.get(name);
  return {
    maxKeys: mostKeys,
    find: (keys, signal) =>
      client.use(signal, async (redis: Redis) => {
        const names = keys.map((key) => pattern.replaceAll('{key}', () => key));
        const replies = (await names.reduce(ask, redis.pipeline()).exec()) as Reply[];
        return replies.map(([error, value], at) => {
          if (error !== null) return oneKey(error, names[at]!, as);
          return as === 'hash'
            ? hashRow(value as Record<string, string>)
            : jsonRow(value as string | null, names[at]!);
        });
      }),
    probe: (signal) =>
      client.use(signal, async (redis) => {
        await redis.ping();
      }),
    close: () => client.close(),
  } satisfies Lookup;
};

/** A hash without fields is none. */
function hashRow(fields: Record<string, string>): LookupRow | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function jsonRow(text: string | null, name: string): LookupRow | undefined | Error {
  if (text === null) return undefined;
  let value: Json | undefined;
  try {
    value = parseExactJson(text);
  } catch {
    value = undefined;
  }
  if (isJsonObject(value)) return value;
  return new MillraceError('transform_failed', `The value of ${name} in Redis is no JSON object.`, {
    hint: 'A looked-up value is a JSON object, whose fields are those of the row.',
  });
}

/** A reply that concerns one key becomes its error; any other concerns them all. */
function oneKey(error: Error, name: string, as: RedisLookupConfig['as']): Error {
  if (replyCode(error) !== 'WRONGTYPE') throw error;
  return new MillraceError(
    'transform_failed',
    `${name} in Redis is no ${as === 'hash' ? 'hash' : 'string'}.`,
    {
      cause: error,
      hint: '`as` says what the keys hold: `hash` or `json`.',
    },
  );
}
