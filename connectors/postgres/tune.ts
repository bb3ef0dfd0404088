import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock, Notice } from '../../src/contracts/context.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import type { FoundSpace } from './layout.js';
import type { TableNames } from './names.js';
import { buildIndex, type BuildOptions } from './build-index.js';
import { dropIndexSql, indexable, type IndexRule } from './vector-index.js';

export interface TuneOptions {
  readonly index: IndexRule;
  /** Others write meanwhile: build the index beside them. */
  readonly concurrently: boolean;
  /** Nobody else clears dead rows and counts the live ones. */
  readonly vacuum: boolean;
  readonly clock: Clock;
  /** Hears how far a build is. */
  notify(notice: Notice): void;
}

/** Makes reading fast: statistics where the database does not keep them itself, and the vector index of a space once it pays. */
export async function tuneStore(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  spaces: readonly FoundSpace[],
  { index, vacuum, ...building }: TuneOptions,
  signal?: AbortSignal,
): Promise<void> {
  if (vacuum)
    await connection.query(
      { text: `vacuum (analyze) ${names.ledger}, ${names.chunks}, ${names.texts}` },
      signal,
    );
  if (index === 'off') return;
  for (const space of spaces)
    if (!space.indexed && indexable(space.width))
      await tuneSpace(connection, names, pipeline, space, { threshold: index, ...building }, signal);
}

async function tuneSpace(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  space: FoundSpace,
  { threshold, ...how }: { readonly threshold: number } & BuildOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const rows = await connection.query(stateSql(names, pipeline, space, threshold), signal);
  const { chunks, half_built: halfBuilt, building } = rows[0] as unknown as IndexState;
  if (chunks < threshold || building) return;
  try {
    if (halfBuilt) await connection.query(dropIndexSql(names, space.index, how.concurrently), signal);
    await buildIndex(connection, names, pipeline, space, how, signal);
  } catch (error) {
    // Another daemon began to build it at this moment.
    if (!(error instanceof MillraceError) || error.code !== 'store_conflict') throw error;
  }
}

interface IndexState {
  /** How many chunks are in the space, or the threshold when it has more. */
  readonly chunks: number;
  /** A build that was cut off left an index that nobody can use. */
  readonly half_built: boolean;
  readonly building: boolean;
}

function stateSql(
  names: TableNames,
  pipeline: string,
  { column, index }: FoundSpace,
  threshold: number,
): SqlStatement {
  return {
    text: `select (select count(*)::int from (
                     select from ${names.chunks} where pipeline = $1 and ${column} is not null limit $2) as first) as chunks,
                  exists (select from pg_index where indexrelid = to_regclass($3) and not indisvalid) as half_built,
                  exists (select from pg_stat_progress_create_index
                          where index_relid = to_regclass($3)) as building`,
    values: [pipeline, threshold, `${names.schema}.${index}`],
  };
}
