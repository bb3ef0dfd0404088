import { z } from 'zod';
import { columnsConfig, tenantConfig } from './config-columns.js';

const index = z
  .union([z.enum(['auto', 'off']), z.int().min(1)])
  .describe(
    'Indexes of vectors (HNSW) and words (GIN): "off" to read all chunks always, or the number of chunks from which they are built; "auto" takes 50,000 on a server and 200,000 in a folder.',
  )
  .default('auto');

const keepText = z
  .boolean()
  .optional()
  .describe(
    'Keeps what the source gave of each document, text and metadata, beside the ledger: a change of the chunker or of the enrichment is then filled from there. Takes about as much room as the texts do; texts over 2 KB are compressed. `false` removes it again. Default: as the store was last told, at first not.',
  );

const vectors = z
  .enum(['vector', 'halfvec'])
  .describe(
    'How vectors are kept: `vector`, 4 bytes a component, or `halfvec`, 2 bytes, with 11 significant bits. A store that holds chunks stays as it is; another choice counts from its next generation.',
  )
  .default('vector');

/** Embedded Postgres in a folder: nothing to install, one machine. */
export const pgliteConfig = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .describe('Folder of the database, made when missing; relative to the configuration file.')
      .default('.millrace/store'),
    index,
    keepText,
    vectors,
    columns: columnsConfig,
    tenant: tenantConfig,
  })
  .describe('Postgres embedded in this process, kept in a folder.');

export type PgliteConfig = z.infer<typeof pgliteConfig>;

/** A Postgres server with pgvector. */
export const postgresConfig = z
  .strictObject({
    url: z.string().min(1).describe('Connection string: postgres://user:password@host:5432/database.'),
    schema: z
      .string()
      .min(1)
      .max(63)
      .describe('Schema that holds the tables; made when missing. Pipelines may share it.')
      .default('millrace'),
    index,
    keepText,
    vectors,
    columns: columnsConfig,
    tenant: tenantConfig,
    view: z
      .union([
        z
          .string()
          .regex(
            /^[a-z_][a-z0-9_]{0,62}$/,
            'expected small letters, digits and _, at most 63, beginning with a letter or _',
          ),
        z.literal(false),
      ])
      .optional()
      .describe(
        'Name of a view in `schema`, for other tools: the chunks that are read now, with their vectors and the columns of metadata fields. A switch to another generation makes it anew in its own transaction and keeps its grants. `false` removes it. Default: as the store was last told, at first none.',
      ),
    connections: z.int().min(1).max(1000).describe('Most connections to the server at once.').default(4),
    timeoutMs: z
      .int()
      .min(100)
      .default(15_000)
      .describe(
        'A statement without an answer for so long is asked after on another connection; when the server does not work on it, its connection is taken for lost and the write is made again.',
      ),
  })
  .describe('A Postgres server with the pgvector extension, 0.8 or newer.');

export type PostgresConfig = z.infer<typeof postgresConfig>;

/** Failed elements in a table. */
export const postgresFailedConfig = z
  .strictObject({
    url: postgresConfig.shape.url,
    schema: z
      .string()
      .min(1)
      .max(63)
      .describe('Schema of the table `failed`; both are made with the first record. Pipelines may share it.')
      .default('millrace'),
    connections: z.int().min(1).max(1000).describe('Most connections to the server at once.').default(2),
    timeoutMs: postgresConfig.shape.timeoutMs,
  })
  .describe('Failed elements in a table of a Postgres server, for any number of processes.');

export type PostgresFailedConfig = z.infer<typeof postgresFailedConfig>;

/** Rows by key. */
export const postgresLookupConfig = z
  .strictObject({
    url: postgresConfig.shape.url,
    query: z
      .string()
      .regex(/\$1(?!\d)/, 'expected $1, the list of keys: select id, name from authors where id = any($1)')
      .describe(
        'One query for many keys, in a transaction that only reads: `$1` is their list, the first column is the key, and each key has one row at most. `select id, name, team from authors where id = any($1)`.',
      ),
    timeoutMs: postgresConfig.shape.timeoutMs,
  })
  .describe('Looks rows up in a Postgres database.');

export type PostgresLookupConfig = z.infer<typeof postgresLookupConfig>;

/** News of models by `NOTIFY`. */
export const updatesConfig = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .describe(
        'Connection string of a server, past any pooler: postgres://user:password@host:5432/database.',
      ),
    channel: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'expected small letters, digits and _, at most 63')
      .describe('Channel to listen on.')
      .default('millrace_models'),
  })
  .describe(
    'Listens on a Postgres server: NOTIFY millrace_models, \'{"model": "…"}\', with `revision` and `weights` (SHA-256) where need be. Embedded Postgres has no other processes that could notify.',
  );

export type UpdatesConfig = z.infer<typeof updatesConfig>;
