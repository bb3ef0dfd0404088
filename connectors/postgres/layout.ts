import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SpaceLayout, StoreLayout } from '../../src/contracts/store.js';
import type { SqlConnection } from './connection.js';
import { vectorIndexes } from './generation-indexes.js';
import { generationKey, generationKeySql } from './generation-key.js';
import type { FieldColumn } from './config-columns.js';
import type { FoundColumn } from './field-column.js';
import { columnIndexName, indexName, indexPrefix, type IndexKind } from './index-name.js';
import { migrationStatements } from './migration.js';
import type { TableNames } from './names.js';
import { layoutVersion, schemaStatements } from './schema-sql.js';
import { dropIndexSql } from './index-plan.js';
import { termsColumn } from './terms-column.js';
import { columnStatements, vectorColumn, type VectorType } from './vector-columns.js';

/** A space as the tables hold it: a column of vectors each. */
export interface FoundSpace extends SpaceLayout {
  readonly type: VectorType;
  readonly column: string;
  readonly index: string;
  /** A usable vector index is there. */
  readonly indexed: boolean;
}

/** What the tables say of a generation. */
export interface FoundLayout {
  readonly version: number;
  readonly generation: number;
  /** Of its rows. */
  readonly key: string;
  /** None until it was prepared. */
  readonly spaces: readonly FoundSpace[];
  /** The usable indexes of the pipeline, of all its generations. */
  readonly indexes: ReadonlySet<string>;
  /** Metadata fields that have a column. */
  readonly columns: readonly FoundColumn[];
  /** The same as the head of the pipeline has them, as JSON: writers make sure that they know them. */
  readonly columnsJson: string;
  /** Chunks can be written with their words. */
  readonly keepsTerms: boolean;
  /** Name of the index of the words. */
  readonly termsIndex: string;
}

const indexKinds: readonly IndexKind[] = ['hnsw', 'words', 'meta'];

/** The most components that pgvector's `vector` holds. */
export const maxWidth = 16_000;

/**
 * @param which number of a generation, or the one that is active
 * @returns undefined when there are no tables yet
 * @throws MillraceError `store_layout` when a newer Millrace made them
 */
export async function readLayout(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  which: number | 'active',
  signal?: AbortSignal,
): Promise<FoundLayout | undefined> {
  let rows;
  const prefixes = indexKinds.map((kind) => indexPrefix(kind, pipeline));
  try {
    rows = await connection.query(
      {
        // As JSON: what the tables of an earlier layout lack is absent, and no error.
        text: `with head as (select to_json(l) as row from ${names.layout} l where pipeline = $1),
                    chosen as (select coalesce($5::int, (select (row->>'active')::int from head), 1) as number)
               select (select max(version) from ${names.layout}) as version, number,
                      (select row->'columns' from head) as columns,
                      (select to_json(l) from ${names.layout} l
                       where l.pipeline = ${generationKeySql('$1::text', 'number')}) as own,
                      array(select c.relname::text from unnest($2::name[], $3::name[]) as range (low, high)
                            join pg_class c on c.relname >= low and c.relname < high
                            join pg_index i on i.indexrelid = c.oid
                            where c.relnamespace = to_regnamespace($4) and i.indisvalid) as indexes,
                      exists(select from pg_attribute where attrelid = to_regclass($6) and attname = $7) as terms
               from chosen`,
        values: [
          pipeline,
          prefixes,
          prefixes.map((prefix) => `${prefix}\``),
          names.schema,
          which === 'active' ? null : which,
          names.chunks,
          termsColumn,
        ],
      },
      signal,
    );
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
    throw error;
  }
  const { version, number, own, indexes, terms, columns } = rows[0] as unknown as LayoutRow;
  if (version !== null && version > layoutVersion)
    throw new MillraceError(
      'store_layout',
      `The tables in schema ${names.schema} have layout ${version}; this Millrace knows ${layoutVersion}.`,
      { hint: 'Use the Millrace that made them, or a newer one.' },
    );
  // Layout 1 knew one space, without a name.
  const spaces: readonly StoredSpace[] =
    own === null ? [] : (own.spaces ?? [{ name: '*', width: own.width }]);
  return {
    version: version ?? layoutVersion,
    generation: number,
    key: generationKey(pipeline, number),
    spaces: spaces.map(({ name, width, type = 'vector' }, at) => {
      const index = indexName('hnsw', pipeline, number, at);
      const column = vectorColumn(at, type);
      return { name, width, type, column, index, indexed: indexes.includes(index) };
    }),
    indexes: new Set(indexes),
    columns: (columns ?? []).map((column) => ({
      ...column,
      indexName: columnIndexName(pipeline, number, column.name),
      filled: own?.filled?.[column.name],
    })),
    columnsJson: JSON.stringify(columns ?? []),
    keepsTerms: terms,
    termsIndex: indexName('words', pipeline, number),
  };
}

/** As the row of the layout has it. */
export interface StoredSpace extends SpaceLayout {
  /** Where it is not `vector`. */
  readonly type?: VectorType;
}

interface LayoutRow {
  readonly version: number | null;
  readonly number: number;
  readonly own: {
    readonly width: number;
    readonly spaces?: readonly StoredSpace[] | null;
    readonly filled?: Readonly<Record<string, FoundColumn['filled']>> | null;
  } | null;
  readonly columns: readonly FieldColumn[] | null;
  readonly indexes: readonly string[];
  readonly terms: boolean;
}

/** In the order of their columns. @throws MillraceError `store_layout` when a vector would not fit pgvector */
export function orderedSpaces({ spaces }: StoreLayout, vectors: VectorType): readonly StoredSpace[] {
  for (const { width } of spaces) checkWidth(width);
  const type = vectors === 'vector' ? {} : { type: vectors };
  return spaces
    .map(({ name, width }) => ({ name, width, ...type }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Makes the tables, brings those of an earlier layout up to date, or checks those that are there.
 * @returns the number of the active generation, which has these spaces
 */
export async function prepareLayout(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  layout: StoreLayout,
  vectors: VectorType,
): Promise<number> {
  const spaces = orderedSpaces(layout, vectors);
  await connection.create();
  const before = await readLayout(connection, names, pipeline, 'active');
  if (before?.version === layoutVersion && sameSpaces(before.spaces, spaces)) {
    const kept = before.spaces[0]!.type === vectors || (await holdsChunks(connection, names, before.key));
    if (kept) return before.generation;
  }
  // Tables are made all at once, so where one is there is nothing to make but the pipeline's own row and columns.
  if (before === undefined) await checkPgvector(connection);
  const key = before?.key ?? pipeline;
  const steps = [
    ...(before === undefined ? schemaStatements(names) : []),
    ...(before !== undefined && before.version < layoutVersion ? migrationStatements(names) : []),
    ...columnStatements(names, spaces.length, vectors),
    {
      text: `insert into ${names.layout} (pipeline, version, width, spaces) values ($1, $2, $3, $4::json)
             on conflict (pipeline) do update set width = excluded.width, spaces = excluded.spaces
             where not exists (select from ${names.chunks} where pipeline = $1)`,
      values: [key, layoutVersion, spaces[0]!.width, JSON.stringify(spaces)],
    },
    { text: `select spaces from ${names.layout} where pipeline = $1`, values: [key] },
  ];
  const found = ((await connection.transaction(steps)).at(-1)![0] as { spaces: StoredSpace[] }).spaces;
  if (!sameSpaces(found, spaces))
    throw new MillraceError(
      'store_layout',
      `Pipeline ${JSON.stringify(pipeline)} holds vectors of ${shown(found)} in schema ${names.schema}; now there are ${shown(spaces)}.`,
      { hint: 'Fill another pipeline or schema, or go back to the models that filled this one.' },
    );
  // Of an empty pipeline that had others: an index would refuse vectors of another width.
  const old = before?.spaces ?? [];
  const moved = !sameSpaces(old, found) || old[0]?.type !== (found[0]!.type ?? 'vector');
  if (moved && before !== undefined)
    for (const index of vectorIndexes(before)) await connection.query(dropIndexSql(names, index, false));
  return before?.generation ?? 1;
}

async function holdsChunks(connection: SqlConnection, names: TableNames, key: string): Promise<boolean> {
  const text = `select from ${names.chunks} where pipeline = $1 limit 1`;
  return (await connection.query({ text, values: [key] })).length > 0;
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
