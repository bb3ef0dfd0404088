import { createHash } from 'node:crypto';
import { failedRecordSchema } from '../../src/elements/failed-record-schema.js';
import type {
  FailedFilter,
  FailedRecord,
  FailedStore,
  FailedStoreFactory,
} from '../../src/contracts/failed-store.js';
import { inWrites } from '../../src/elements/in-writes.js';
import { storable } from '../../src/elements/text.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { PostgresFailedConfig } from './config.js';
import type { SqlRow, SqlStep } from './connection.js';
import { failedSql } from './failed-sql.js';
import { foldRecords } from './fold-records.js';
import { openPgConnection } from './pg-connection.js';

const page = 1_000;
/** Bytes of records that are read at once while they are listed. */
const readSize = 8 << 20;

/** Failed elements in a table of a Postgres server. It is made with the first record; those who only look make nothing. */
export const openPostgresFailed: FailedStoreFactory<PostgresFailedConfig> = async (config, context) => {
  const { pipeline } = context;
  const connection = openPgConnection(config, context);
  const sql = failedSql(config.schema);
  let made = false;

  /** @returns the rows of the last step */
  async function run(steps: readonly SqlStep[]): Promise<readonly SqlRow[]> {
    try {
      // Whatever the server's default: a record that was put is on its disk.
      const durable = { text: 'set local synchronous_commit = on' };
      return (await connection.transaction([durable, ...steps])).at(-1)!;
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** @returns no rows where there is no table yet */
  async function ask(text: string, values: readonly (string | number | string[] | null)[]) {
    try {
      return await connection.query({ text, values });
    } catch (error) {
      if (error instanceof MillraceError && error.code === 'store_layout') return [];
      throw unavailable(error);
    }
  }

  async function change(text: string, values: readonly (string | string[])[]): Promise<number> {
    if ((await ask(`select from ${sql.table} limit 1`, [])).length === 0) return 0;
    return (await run([{ text, values }]))[0]!['count'] as number;
  }

  async function make(): Promise<void> {
    if (made) return;
    const [found] = await ask('select to_regclass($1) is not null as there', [sql.table]);
    // Looked for first: a role that may write to the table need not be one that may make it.
    if (found?.['there'] !== true) await run(sql.create);
    made = true;
  }

  return {
    async put(records) {
      await make();
      for (const some of inWrites(foldRecords(records)))
        await run([{ text: sql.put, values: [pipeline, ...columnsOf(some)] }]).catch((error: unknown) => {
          made = false;
          throw error;
        });
    },
    async *list(filter: FailedFilter = {}) {
      const { idPrefix = '', code = null, stage = null } = filter;
      for (let after = '0'; ;) {
        const rows = await ask(sql.list, [pipeline, after, storable(idPrefix), code, stage, page]);
        for (const group of groupsOf(rows))
          for (const row of await ask(sql.read, [pipeline, group])) yield recordOf(row);
        if (rows.length < page) return;
        after = String(rows.at(-1)!['seq']);
      }
    },
    async get(documentId) {
      const [row] = await ask(sql.get, [pipeline, digestOf(documentId)]);
      return row && recordOf(row);
    },
    discard: async (keys) =>
      change(sql.discard, [
        pipeline,
        keys.map(({ documentId }) => digestOf(documentId)),
        keys.map(({ version }) => version),
      ]),
    expire: async (before) => change(sql.expire, [pipeline, before]),
    close: () => connection.close(),
  } satisfies FailedStore;
};

function columnsOf(records: readonly FailedRecord[]) {
  const column = <Value>(value: (record: FailedRecord) => Value) => records.map(value);
  return [
    column(({ documentId }) => digestOf(documentId)),
    column(({ documentId }) => storable(documentId)),
    column(({ version }) => version),
    column(({ stage }) => stage),
    column(({ error }) => error.code),
    column(({ attempts }) => attempts),
    column(({ firstAt }) => firstAt),
    column(({ lastAt }) => lastAt),
    column((record) => JSON.stringify(record)),
  ];
}

/** Numbers of the rows, in groups of records that fit into memory together. */
function* groupsOf(rows: readonly SqlRow[]): Generator<string[]> {
  let group: string[] = [];
  let size = 0;
  for (const { seq, bytes } of rows) {
    group.push(String(seq));
    size += Number(bytes);
    if (size < readSize) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

function recordOf({ record, attempts, first_at: firstAt }: SqlRow): FailedRecord {
  return { ...failedRecordSchema.parse(record), attempts: Number(attempts), firstAt: String(firstAt) };
}

function digestOf(documentId: string): string {
  return createHash('sha256').update(documentId).digest('hex');
}

function unavailable(error: unknown): MillraceError {
  const { message, hint } = MillraceError.from(error);
  return new MillraceError('failed_sink_unavailable', `Failed elements cannot be kept: ${message}`, {
    cause: error,
    hint: hint ?? 'Is the server there, and may the role of `failed.postgres.url` read and write the table?',
  });
}
