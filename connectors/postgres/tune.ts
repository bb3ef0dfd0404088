import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock, Notice } from '../../src/contracts/context.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import { columnIndexPlan } from './column-index.js';
import { countWords } from './count-words.js';
import { fillColumns } from './fill-columns.js';
import { dropIndexSql, type IndexPlan } from './index-plan.js';
import type { FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import { buildIndex, type BuildOptions } from './build-index.js';
import { isByTenant, largeTenants, tenantIndexPlan } from './tenants.js';
import { termsIndexPlan } from './terms-index.js';
import { indexable, vectorIndexPlan, type IndexRule } from './vector-index.js';

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

/**
 * Makes reading fast: statistics where the database does not keep them itself, columns of metadata fields and their indexes,
 * and the indexes of vectors and words once they pay.
 */
export async function tuneStore(
  connection: SqlConnection,
  names: TableNames,
  found: FoundLayout,
  { index, vacuum, ...building }: TuneOptions,
  signal?: AbortSignal,
): Promise<void> {
  if (vacuum)
    await connection.query(
      { text: `vacuum (analyze) ${names.ledger}, ${names.chunks}, ${names.texts}` },
      signal,
    );
  await fillColumns(connection, names, found, building.notify, signal);
  const { key } = found;
  for (const column of found.columns)
    if (column.index && !found.indexes.has(column.indexName))
      await tuneIndex(
        connection,
        names,
        key,
        columnIndexPlan(names, key, column),
        { threshold: 0, ...building },
        signal,
      );
  if (index === 'off') return;
  const how = { threshold: index, ...building };
  const spaces = found.spaces.filter(({ width }) => indexable(width));
  const plans = isByTenant(found.columns)
    ? (await largeTenants(connection, names, key, index, signal)).flatMap((tenant) =>
        spaces.map((space) => tenantIndexPlan(names, key, space, tenant)),
      )
    : spaces.map((space) => vectorIndexPlan(names, key, space));
  for (const plan of plans)
    if (!found.indexes.has(plan.name)) await tuneIndex(connection, names, key, plan, how, signal);
  const { keepsTerms, termsIndex } = found;
  if (!keepsTerms) return;
  const there = found.indexes.has(termsIndex);
  const plan = termsIndexPlan(names, key, termsIndex);
  const built = !there && (await tuneIndex(connection, names, key, plan, how, signal));
  // Else the server looks at each chunk that it counts, until it vacuums the table in its own time.
  if (built && !vacuum) await connection.query({ text: `vacuum ${names.chunks}` }, signal);
  if (there || built) await countWords(connection, names, key, signal);
}

/** @returns whether it was built now */
async function tuneIndex(
  connection: SqlConnection,
  names: TableNames,
  key: string,
  plan: IndexPlan,
  { threshold, ...how }: { readonly threshold: number } & BuildOptions,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const rows = await connection.query(stateSql(names, key, plan, threshold), signal);
  const { chunks, half_built: halfBuilt, building } = rows[0] as unknown as IndexState;
  if (chunks < threshold || building) return false;
  try {
    if (halfBuilt) await connection.query(dropIndexSql(names, plan.name, how.concurrently), signal);
    await buildIndex(connection, names, key, plan, how, signal);
    return true;
  } catch (error) {
    // Another daemon began to build it at this moment.
    if (error instanceof MillraceError && error.code === 'store_conflict') return false;
    throw error;
  }
}

interface IndexState {
  /** How many chunks it would hold, or the threshold when there are more. */
  readonly chunks: number;
  /** A build that was cut off left an index that nobody can use. */
  readonly half_built: boolean;
  readonly building: boolean;
}

function stateSql(
  names: TableNames,
  key: string,
  { name, counted }: IndexPlan,
  threshold: number,
): SqlStatement {
  return {
    text: `select (select count(*)::int from (
                     select from ${names.chunks} where pipeline = $1 and ${counted} limit $2) as first) as chunks,
                  exists (select from pg_index where indexrelid = to_regclass($3) and not indisvalid) as half_built,
                  exists (select from pg_stat_progress_create_index
                          where index_relid = to_regclass($3)) as building`,
    values: [key, threshold, `${names.schema}.${name}`],
  };
}
