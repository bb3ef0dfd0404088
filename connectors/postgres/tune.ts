import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import { indexName } from './index-name.js';
import type { PreparedLayout } from './layout.js';
import type { TableNames } from './names.js';
import { createIndexSql, dropIndexSql, indexable, type IndexRule } from './vector-index.js';

export interface TuneOptions {
  readonly index: IndexRule;
  /** Others write meanwhile: build the index beside them. */
  readonly concurrently: boolean;
  /** Nobody else clears dead rows and counts the live ones. */
  readonly vacuum: boolean;
}

/** Makes reading fast: statistics where the database does not keep them itself, and the vector index once it pays. */
export async function tuneStore(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  layout: PreparedLayout,
  { index, concurrently, vacuum }: TuneOptions,
  signal?: AbortSignal,
): Promise<void> {
  if (vacuum) await connection.query({ text: `vacuum (analyze) ${names.ledger}, ${names.chunks}` }, signal);
  if (index === 'off' || layout.indexed || !indexable(layout.width)) return;
  const rows = await connection.query(stateSql(names, pipeline, index), signal);
  const { chunks, half_built: halfBuilt, building } = rows[0] as unknown as IndexState;
  if (chunks < index || building) return;
  try {
    if (halfBuilt) await connection.query(dropIndexSql(names, pipeline, concurrently), signal);
    await connection.query(createIndexSql(names, pipeline, layout.width, concurrently), signal);
  } catch (error) {
    // Another daemon began to build it at this moment.
    if (!(error instanceof MillraceError) || error.code !== 'store_conflict') throw error;
  }
}

interface IndexState {
  /** How many chunks the pipeline has, or the threshold when it has more. */
  readonly chunks: number;
  /** A build that was cut off left an index that nobody can use. */
  readonly half_built: boolean;
  readonly building: boolean;
}

function stateSql(names: TableNames, pipeline: string, threshold: number): SqlStatement {
  return {
    text: `select (select count(*)::int from (
                     select from ${names.chunks} where pipeline = $1 limit $2) as first) as chunks,
                  exists (select from pg_index where indexrelid = to_regclass($3) and not indisvalid) as half_built,
                  exists (select from pg_stat_progress_create_index
                          where index_relid = to_regclass($3)) as building`,
    values: [pipeline, threshold, `${names.schema}.${indexName(pipeline)}`],
  };
}
