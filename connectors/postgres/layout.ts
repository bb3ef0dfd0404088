import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SpaceLayout, StoreLayout } from '../../src/contracts/store.js';
import type { SqlConnection } from './connection.js';
import { indexName } from './index-name.js';
import type { TableNames } from './names.js';
import { layoutVersion, schemaStatements } from './schema-sql.js';
import { dropIndexSql } from './vector-index.js';
import { columnStatements, migrationStatements, vectorColumn } from './vector-columns.js';

/** A space as the tables hold it: a column of vectors each. */
export interface FoundSpace extends SpaceLayout {
  readonly column: string;
  readonly index: string;
  /** A usable vector index is there. */
  readonly indexed: boolean;
}

/** What the tables say of themselves. */
export interface FoundLayout {
  readonly version: number;
  /** The pipeline's spaces; none until it was prepared. */
  readonly spaces: readonly FoundSpace[];
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
        // As JSON: what the tables of an earlier layout lack is absent, and no error.
        text: `select (select max(version) from ${names.layout}) as version,
                      (select to_json(own) from ${names.layout} own where pipeline = $1) as own,
                      array(select c.relname::text from pg_class c join pg_index i on i.indexrelid = c.oid
                            where c.relname >= $2::name and c.relname < $3::name
                              and c.relnamespace = to_regnamespace($4) and i.indisvalid) as indexes`,
        values: [pipeline, indexName(pipeline), `${indexName(pipeline)}\``, names.schema],
      },
      signal,
    );
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
    throw error;
  }
  const { version, own, indexes } = rows[0] as unknown as LayoutRow;
  if (version !== null && version > layoutVersion)
    throw new MillraceError(
      'store_layout',
      `The tables in schema ${names.schema} have layout ${version}; this Millrace knows ${layoutVersion}.`,
      { hint: 'Use the Millrace that made them, or a newer one.' },
    );
  // Layout 1 knew one space, without a name.
  const spaces = own === null ? [] : (own.spaces ?? [{ name: '*', width: own.width }]);
  return {
    version: version ?? layoutVersion,
    spaces: spaces.map(({ name, width }, at) => {
      const index = indexName(pipeline, at);
      return { name, width, column: vectorColumn(at), index, indexed: indexes.includes(index) };
    }),
  };
}

interface LayoutRow {
  readonly version: number | null;
  readonly own: { readonly width: number; readonly spaces?: readonly SpaceLayout[] | null } | null;
  readonly indexes: readonly string[];
}

/** Makes the tables, brings those of an earlier layout up to date, or checks those that are there. */
export async function prepareLayout(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  layout: StoreLayout,
): Promise<void> {
  const spaces = layout.spaces
    .map(({ name, width }) => ({ name, width }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { width } of spaces) checkWidth(width);
  await connection.create();
  const before = await readLayout(connection, names, pipeline);
  if (before?.version === layoutVersion && sameSpaces(before.spaces, spaces)) return;
  // Tables are made all at once, so where one is there is nothing to make but the pipeline's own row and columns.
  if (before === undefined) await checkPgvector(connection);
  const steps = [
    ...(before === undefined ? schemaStatements(names) : []),
    ...(before !== undefined && before.version < layoutVersion ? migrationStatements(names) : []),
    ...(spaces.length > 1 ? columnStatements(names, spaces.length) : []),
    {
      text: `insert into ${names.layout} (pipeline, version, width, spaces) values ($1, $2, $3, $4::json)
             on conflict (pipeline) do update set width = excluded.width, spaces = excluded.spaces
             where not exists (select from ${names.chunks} where pipeline = $1)`,
      values: [pipeline, layoutVersion, spaces[0]!.width, JSON.stringify(spaces)],
    },
    { text: `select spaces from ${names.layout} where pipeline = $1`, values: [pipeline] },
  ];
  const found = ((await connection.transaction(steps)).at(-1)![0] as { spaces: SpaceLayout[] }).spaces;
  if (!sameSpaces(found, spaces))
    throw new MillraceError(
      'store_layout',
      `Pipeline ${JSON.stringify(pipeline)} holds vectors of ${shown(found)} in schema ${names.schema}; now there are ${shown(spaces)}.`,
      { hint: 'Fill another pipeline or schema, or go back to the models that filled this one.' },
    );
  // Of an empty pipeline that had other spaces: an index would refuse vectors of another width.
  for (const { index, indexed } of before?.spaces ?? [])
    if (indexed && !sameSpaces(before!.spaces, spaces))
      await connection.query(dropIndexSql(names, index, false));
}

function checkWidth(width: number): void {
  if (Number.isInteger(width) && width >= 1 && width <= maxWidth) return;
  throw new MillraceError('store_layout', `pgvector holds 1 to ${maxWidth} components, not ${width}.`, {
    hint: 'Choose a model with narrower vectors.',
  });
}

function sameSpaces(found: readonly SpaceLayout[], wanted: readonly SpaceLayout[]): boolean {
  return (
    found.length === wanted.length &&
    found.every(({ name, width }, at) => name === wanted[at]!.name && width === wanted[at]!.width)
  );
}

function shown(spaces: readonly SpaceLayout[]): string {
  return spaces
    .map(({ name, width }) => `${width} components in space ${JSON.stringify(name)}`)
    .join(' and ');
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
