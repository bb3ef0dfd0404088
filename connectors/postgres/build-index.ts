import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock, Notice } from '../../src/contracts/context.js';
import type { SqlConnection } from './connection.js';
import type { FoundSpace } from './layout.js';
import type { TableNames } from './names.js';
import { createIndexSql, dropIndexSql } from './vector-index.js';

export interface BuildOptions {
  /** On a server, where others write meanwhile. */
  readonly concurrently: boolean;
  readonly clock: Clock;
  /** Hears how far a build is. */
  notify(notice: Notice): void;
}

/** Beside its components a vector in the graph has its neighbours, with pgvector's `m` of 16: seen, rounded up. */
const graphBytes = 600;
const smallestMb = 64;
/** More is the operator's to give: `maintenance_work_mem` of the server counts where it is greater. */
const greatestMb = 2_048;
const tellEveryMs = 10_000;

/**
 * Builds the vector index of a space, on a server with as much memory as its graph needs: one that does not fit is built
 * many times more slowly.
 */
export async function buildIndex(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  space: FoundSpace,
  { concurrently, clock, notify }: BuildOptions,
  signal?: AbortSignal,
): Promise<void> {
  const statement = createIndexSql(names, pipeline, space, concurrently);
  // PGlite was started with what it may take.
  if (!concurrently) {
    await connection.query(statement, signal);
    return;
  }
  const over = new AbortController();
  const told = tell(connection, names, space, { clock, notify }, over.signal);
  try {
    const memory = `${await memoryMb(connection, names, pipeline, space, signal)}MB`;
    const build = (settings: Readonly<Record<string, string>>) =>
      connection.query({ ...statement, settings: { maintenance_work_mem: memory, ...settings } }, signal);
    try {
      await build({});
    } catch (error) {
      if (!lacksResources(error)) throw error;
      // Workers share the memory through a file system that may be small, as it is in containers.
      notify({
        level: 'warn',
        code: 'store_index_alone',
        message: `The index ${space.index} is built by one process: ${error.message}`,
      });
      await connection.query(dropIndexSql(names, space.index, concurrently), signal);
      await build({ max_parallel_maintenance_workers: '0' });
    }
  } finally {
    over.abort();
    await told;
  }
}

/** SQLSTATE class 53: memory, disk or connections ran out. */
function lacksResources(error: unknown): error is MillraceError {
  if (!(error instanceof MillraceError)) return false;
  const { code } = Object(error.cause) as { readonly code?: unknown };
  return typeof code === 'string' && code.startsWith('53');
}

async function memoryMb(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  { column, width, type }: FoundSpace,
  signal: AbortSignal | undefined,
): Promise<number> {
  const text = `select (select count(*)::float8 from ${names.chunks} where pipeline = $1 and ${column} is not null) as chunks,
                       (select setting::float8 / 1024 from pg_settings where name = 'maintenance_work_mem') as own`;
  const [row] = await connection.query({ text, values: [pipeline] }, signal);
  const { chunks, own } = row as { chunks: number; own: number };
  const needed = Math.ceil((chunks * (width * (type === 'vector' ? 4 : 2) + graphBytes)) / 2 ** 20);
  return Math.max(Math.floor(own), Math.min(greatestMb, Math.max(smallestMb, needed)));
}

async function tell(
  connection: SqlConnection,
  names: TableNames,
  { index }: FoundSpace,
  { clock, notify }: Pick<BuildOptions, 'clock' | 'notify'>,
  over: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(tellEveryMs, over);
      const [row] = await connection.query({
        text: `select phase, tuples_done::float8 as done, tuples_total::float8 as total
               from pg_stat_progress_create_index where index_relid = to_regclass($1)`,
        values: [`${names.schema}.${index}`],
      });
      if (row === undefined) continue;
      const { phase, done, total } = row as { phase: string; done: number; total: number };
      const share = total > 0 ? `, ${Math.round((100 * done) / total)} %` : '';
      notify({ level: 'info', code: 'store_index_building', message: `Index ${index}: ${phase}${share}.` });
    }
  } catch {
    // The build is over, or the server is away, which the build itself tells.
  }
}
