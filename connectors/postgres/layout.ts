import { MillraceError } from '../../src/errors/millrace-error.js';
import type { StoreLayout } from '../../src/contracts/store.js';
import type { SqlConnection } from './connection.js';
import { indexName } from './index-name.js';
import type { TableNames } from './names.js';
import { layoutVersion, schemaStatements } from './schema-sql.js';

/** What the tables say of themselves. */
export interface FoundLayout {
  /** Components of the pipeline's vectors; absent until the pipeline was prepared. */
  readonly width: number | undefined;
  /** A usable vector index is there. */
  readonly indexed: boolean;
}

export interface PreparedLayout extends FoundLayout {
  readonly width: number;
}

/** The most components that pgvector's `vector` holds. */
export const maxWidth = 16_000;

/**
 * @returns undefined when there are no tables yet
 * @throws MillraceError `store_layout` when a newer Millrace made them
 */
export async function readLayout(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  signal?: AbortSignal,
): Promise<FoundLayout | undefined> {
  let rows;
  try {
    rows = await connection.query(
      {
        text: `select (select max(version) from ${names.layout}) as version,
                      (select width from ${names.layout} where pipeline = $1) as width,
                      exists (select from pg_index where indexrelid = to_regclass($2) and indisvalid) as indexed`,
        values: [pipeline, `${names.schema}.${indexName(pipeline)}`],
      },
      signal,
    );
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
    throw error;
  }
  const row = rows[0] as { version: number | null; width: number | null; indexed: boolean };
  if (row.version !== null && row.version > layoutVersion)
    throw new MillraceError(
      'store_layout',
      `The tables in schema ${names.schema} have layout ${row.version}; this Millrace knows ${layoutVersion}.`,
      { hint: 'Use the Millrace that made them, or a newer one.' },
    );
  return { width: row.width ?? undefined, indexed: row.indexed };
}

/** Makes the tables, or checks those that are there. */
export async function prepareLayout(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  { width }: StoreLayout,
): Promise<void> {
  if (!Number.isInteger(width) || width < 1 || width > maxWidth)
    throw new MillraceError('store_layout', `pgvector holds 1 to ${maxWidth} components, not ${width}.`, {
      hint: 'Choose a model with narrower vectors.',
    });
  await connection.create();
  const before = await readLayout(connection, names, pipeline);
  if (before?.width === width) return;
  // Tables are made all at once, so where one is there is nothing to make but the pipeline's own row.
  if (before === undefined) await checkPgvector(connection);
  const results = await connection.transaction([
    ...(before === undefined ? schemaStatements(names) : []),
    {
      text: `insert into ${names.layout} (pipeline, version, width) values ($1, $2, $3)
             on conflict (pipeline) do update set width = excluded.width
             where not exists (select from ${names.chunks} where pipeline = $1)`,
      values: [pipeline, layoutVersion, width],
    },
    { text: `select width from ${names.layout} where pipeline = $1`, values: [pipeline] },
  ]);
  const found = (results.at(-1)![0] as { width: number }).width;
  if (found !== width)
    throw new MillraceError(
      'store_layout',
      `Pipeline ${JSON.stringify(pipeline)} holds vectors of ${found} components in schema ${names.schema}; the model gives ${width}.`,
      { hint: 'Fill another pipeline or schema, or go back to the model that filled this one.' },
    );
}

/** Before anything is made: without iterative scans (pgvector 0.8) a filtered search by index would miss chunks. */
async function checkPgvector(connection: SqlConnection): Promise<void> {
  const rows = await connection.query({
    text: `select coalesce((select extversion from pg_extension where extname = 'vector'),
                           (select default_version from pg_available_extensions where name = 'vector')) as version`,
  });
  const version = rows[0]!['version'] as string | null;
  if (version === null)
    throw new MillraceError('config_invalid', 'The Postgres server has no pgvector extension.', {
      hint: 'Install pgvector 0.8 or newer on the server.',
    });
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 0 && minor < 8)
    throw new MillraceError(
      'config_invalid',
      `The database has pgvector ${version}; 0.8 or newer is needed.`,
      {
        hint: 'Install a newer pgvector on the server, then `alter extension vector update`.',
      },
    );
}
