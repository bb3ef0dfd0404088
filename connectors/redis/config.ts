import { z } from 'zod';

/** Where a Redis server is, and how to reach it. */
export const redisConnection = z.strictObject({
  url: z
    .string()
    .refine(
      (url) => /^rediss?:\/\//.test(url) && URL.canParse(url),
      'expected redis://[user:password@]host:port[/db], or rediss:// for TLS, with anything special in a password as %XX',
    )
    .describe(
      'Address: `redis://user:password@host:6379`, `rediss://` for TLS. Keep passwords in the environment.',
    ),
  ca: z
    .string()
    .optional()
    .describe(
      'File with the certificate authority of a `rediss://` server, in PEM. A relative path starts at the configuration file.',
    ),
  timeoutMs: z
    .int()
    .min(100)
    .default(10_000)
    .describe(
      'A connection on which nothing comes for so long, though an answer is due, is taken for lost and made again.',
    ),
});

const field = z.string().min(1);

const flatFields = z
  .strictObject({
    id: field.default('id').describe('Field with the id of the document.'),
    text: z
      .union([field, z.array(field).min(1)])
      .default('text')
      .describe('Field with the text, or several: those that are there are joined by a blank line.'),
    metadata: z
      .union([z.literal('rest'), z.array(field)])
      .default('rest')
      .describe('Fields kept as metadata: `rest` for all but those named here, or a list.'),
    json: field
      .optional()
      .describe('Field of the entry with a JSON document: the fields above are then looked for in it.'),
    op: field
      .default('op')
      .describe(
        'Field that says what happened: `delete` takes the document away, `upsert` or nothing sets it.',
      ),
    version: field
      .optional()
      .describe(
        'Field with a version of your own, a whole number that rises with each change of a document. Default: the id of the entry.',
      ),
  })
  .describe('How an entry becomes a document.');

/** Documents from the entries of a Redis stream, read by a consumer group that any number of processes share. */
export const redisSourceConfig = redisConnection.extend({
  stream: z.string().min(1).describe('Key of the stream. Each entry is a whole document, or its deletion.'),
  group: z
    .string()
    .min(1)
    .optional()
    .describe('Consumer group. Default: `millrace-` and the name of the pipeline.'),
  from: z
    .string()
    .regex(/^(start|now|\d+(-\d+)?)$/, 'expected start, now, or the id of an entry such as 1700000000000-0')
    .default('start')
    .describe(
      'Where a group that does not exist yet begins: `start`, `now`, or after the entry with this id.',
    ),
  name: z
    .string()
    .min(1)
    .optional()
    .describe('Owner of the documents in the store. Default: `redis:` and the stream.'),
  fields: flatFields.prefault({}),
  count: z.int().min(1).max(10_000).default(256).describe('Entries of one read at most.'),
  claimIdleMs: z
    .int()
    .min(100)
    .default(60_000)
    .describe('Entries that another consumer took and did not confirm for so long are taken over.'),
  maxDeliveries: z
    .int()
    .min(1)
    .default(5)
    .describe(
      'Deliveries of one entry before it is suspected of ending its process: it is then tried once alone, and after that becomes a failed element unread.',
    ),
});

/** Failed elements in a stream. */
export const redisFailedConfig = redisConnection
  .extend({
    stream: z
      .string()
      .min(1)
      .describe(
        'Key of the stream, which holds one entry a failing document. Pipelines may share it. A hash beside it, `<stream>:<pipeline>`, tells which entry is whose.',
      ),
  })
  .describe('Failed elements in a Redis stream, for any number of processes.');

/** News of models from a stream. */
export const redisUpdatesConfig = redisConnection
  .extend({
    stream: z
      .string()
      .min(1)
      .default('millrace-models')
      .describe('Key of the stream. Every process reads every entry that is added while it runs.'),
  })
  .describe(
    'Reads a Redis stream: XADD millrace-models * model ./models/topics-2, with `revision` and `weights` (SHA-256) where need be.',
  );

/** Rows by key. */
export const redisLookupConfig = redisConnection
  .extend({
    pattern: z
      .string()
      .includes('{key}', { error: 'expected {key}, where the key goes: author:{key}' })
      .default('{key}')
      .describe('Name of the Redis key of a row, with `{key}` for the key: `author:{key}`.'),
    as: z
      .enum(['hash', 'json'])
      .default('hash')
      .describe(
        'What such a Redis key holds: a hash, whose values are texts, or a string with a JSON object.',
      ),
  })
  .describe('Looks rows up in Redis.');

/** Answers of look-ups. */
export const redisCacheConfig = redisConnection
  .extend({
    prefix: z.string().min(1).default('millrace:').describe('Put before the names of its Redis keys.'),
  })
  .describe('Keeps rows in Redis, for all processes of the pipeline.');

export type RedisLookupConfig = z.output<typeof redisLookupConfig>;
export type RedisCacheConfig = z.output<typeof redisCacheConfig>;
export type RedisUpdatesConfig = z.output<typeof redisUpdatesConfig>;
export type RedisFailedConfig = z.output<typeof redisFailedConfig>;
export type RedisConnectionConfig = z.output<typeof redisConnection>;
export type RedisSourceConfig = z.output<typeof redisSourceConfig>;
export type EntryFields = z.output<typeof flatFields>;
