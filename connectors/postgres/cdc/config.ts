import { z } from 'zod';

const column = z.string().min(1).max(63);
const columns = z.union([column, z.array(column).min(1)]);

const mapping = {
  id: columns
    .optional()
    .describe(
      'Column, or columns, that name a row: NOT NULL, unique together, and part of the replica identity. Default: the primary key.',
    ),
  text: columns
    .optional()
    .describe('Column with the text, or several, joined by a blank line; NULL is left out.'),
  metadata: z
    .union([z.literal('rest'), z.array(column)])
    .default('rest')
    .describe('Columns kept as metadata: `rest` for all but those of id and text, or a list.'),
  types: z
    .record(column, z.string().min(1))
    .default({})
    .describe(
      'Types that mapped columns may have from now on after a change of type stopped the source, as its message named them: `body: json`.',
    ),
};

const tableName = z.string().min(1).describe('Table, as SQL names it: `articles`, `shop.articles`.');

/** Documents from the rows of tables: those that are there, and every change from then on. */
export const cdcConfig = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .describe(
        'Connection string of the primary, past any pooler: postgres://user:password@host:5432/database. Keep passwords in the environment.',
      ),
    table: tableName.optional(),
    ...mapping,
    tables: z
      .array(z.strictObject({ table: tableName, ...mapping }))
      .min(1)
      .optional()
      .describe('Several tables instead of `table`: their documents are called `table/id`.'),
    name: z
      .string()
      .min(1)
      .optional()
      .describe('Owner of the documents in the store. Default: `postgres:` and the table, or the database.'),
    publication: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('Publication of the tables. Default: `millrace_` and the name of the pipeline.'),
    slot: z
      .string()
      .regex(/^[a-z0-9_]{1,63}$/, 'expected small letters, digits and _, at most 63')
      .optional()
      .describe('Replication slot. Default: `millrace_` and the name of the pipeline.'),
    make: z
      .boolean()
      .default(true)
      .describe(
        'Make publication and slot where they are missing, and add missing tables to the publication. `false`: they must be there.',
      ),
    failover: z
      .boolean()
      .default(false)
      .describe('Make the slot one that is kept on standbys (Postgres 17 or newer).'),
    onGap: z
      .enum(['reread', 'stop'])
      .default('reread')
      .describe(
        'When changes may be missing (slot lost or invalidated, another cluster or timeline): read all rows again and delete what is gone, or stop.',
      ),
    reread: z.int().min(0).default(0).describe('Raise it to have all rows read again.'),
    batch: z.int().min(1).max(10_000).default(256).describe('Rows handed over at once at most.'),
    heartbeatMs: z
      .int()
      .min(1_000)
      .default(60_000)
      .describe(
        'How often a small message is written to the log, so that the slot moves on while the tables are idle.',
      ),
    takeoverMs: z
      .int()
      .min(1_000)
      .default(30_000)
      .describe(
        'A process that reads the slot and gives no sign of life for so long is cut off by the next one.',
      ),
    timeoutMs: z
      .int()
      .min(1_000)
      .default(30_000)
      .describe('A connection on which no answer comes for so long is given up, and another one made.'),
    lag: z
      .strictObject({
        maxBytes: z
          .int()
          .min(1)
          .optional()
          .describe('Bytes of log that the slot may hold back. Default: no limit.'),
        action: z
          .enum(['warn', 'stop', 'drop'])
          .default('warn')
          .describe(
            'What happens beyond it: a warning; the run stops; or the slot is dropped too, so that the server can free its disk, and the next run reads all rows again.',
          ),
      })
      .prefault({})
      .describe('What the slot may cost the server.'),
  })
  .superRefine((config, context) => {
    const fault = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((config.table === undefined) === (config.tables === undefined))
      fault('table', 'expected either `table` or `tables`');
    if (config.table !== undefined && config.text === undefined)
      fault('text', 'expected the column, or the columns, that hold the text');
    if (config.tables !== undefined)
      for (const name of ['id', 'text'] as const)
        if (config[name] !== undefined) fault(name, 'belongs to each of `tables`');
    config.tables?.forEach(({ text }, at) => {
      if (text === undefined) fault(`tables.${at}.text`, 'expected the column that holds the text');
    });
  })
  .describe('Rows of Postgres tables, by logical replication (change data capture).');

export type CdcConfig = z.output<typeof cdcConfig>;

/** How one table makes documents. */
export interface TableMapping {
  readonly table: string;
  /** undefined: by the primary key. */
  readonly id: readonly string[] | undefined;
  readonly text: readonly string[];
  readonly metadata: 'rest' | readonly string[];
  readonly types: Readonly<Record<string, string>>;
  /** Before every id of this table. */
  readonly prefix: string;
}

export function mappingsOf(config: CdcConfig): readonly TableMapping[] {
  const { table, tables } = config;
  const given = tables ?? [{ ...config, table: table! }];
  return given.map(({ table: name, id, text, metadata, types }) => ({
    table: name,
    id: id === undefined ? undefined : [id].flat(),
    text: [text ?? []].flat(),
    metadata,
    types,
    prefix: tables === undefined ? '' : `${name}/`,
  }));
}

/** Names that Postgres knows are made from the pipeline's: small letters, digits and _. */
export function ownName(pipeline: string): string {
  return `millrace_${pipeline.toLowerCase().replace(/[^a-z0-9_]/g, '_')}`.slice(0, 63);
}
