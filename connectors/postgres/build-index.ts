import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock, Notice } from '../../src/contracts/context.js';
import type { SqlConnection } from './connection.js';
import { dropIndexSql, type IndexPlan } from './index-plan.js';
import type { TableNames } from './names.js';

export interface BuildOptions {
  /** On a server, where others write meanwhile. */
  readonly concurrently: boolean;
  readonly clock: Clock;
  /** Hears how far a build is. */
  notify(notice: Notice): void;
}

const smallestMb = 64;
/** More is the operator's to give: `maintenance_work_mem` of the server counts where it is greater. */
const greatestMb = 2_048;
const tellEveryMs = 10_000;

/**
 * Builds an index, on a server with as much memory as it needs: one that does not fit is built many times more slowly.
 * @param key of the generation
 */
export async function buildIndex(
  connection: SqlConnection,
  names: TableNames,
  key: string,
  plan: IndexPlan,
  { concurrently, clock, notify }: BuildOptions,
  signal?: AbortSignal,
): Promise<void> {
  const statement = plan.create(concurrently);
  // PGlite was started with what it may take.
  if (!concurrently) {
    await connection.query(statement, signal);
    return;
  }
  const over = new AbortController();
  const told = tell(connection, names, plan, { clock, notify }, over.signal);
  try {
    const memory = `${await memoryMb(connection, names, key, plan, signal)}MB`;
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
        message: `The index ${plan.name} is built by one process: ${error.message}`,
      });
      await connection.query(dropIndexSql(names, plan.name, concurrently), signal);
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
  key: string,
  { counted, bytesEach }: IndexPlan,
  signal: AbortSignal | undefined,
): Promise<number> {
  const text = `select (select count(*)::float8 from ${names.chunks} where pipeline = $1 and ${counted}) as chunks,
                       (select setting::float8 / 1024 from pg_settings where name = 'maintenance_work_mem') as own`;
  const [row] = await connection.query({ text, values: [key] }, signal);
  const { chunks, own } = row as { chunks: number; own: number };
  const needed = Math.ceil((chunks * bytesEach) / 2 ** 20);
  return Math.max(Math.floor(own), Math.min(greatestMb, Math.max(smallestMb, needed)));
}

async function tell(
  connection: SqlConnection,
  names: TableNames,
  { name }: IndexPlan,
  { clock, notify }: Pick<BuildOptions, 'clock' | 'notify'>,
  over: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(tellEveryMs, over);
      const [row] = await connection.query({
        text: `select phase, tuples_done::float8 as done, tuples_total::float8 as total
               from pg_stat_progress_create_index where index_relid = to_regclass($1)`,
        values: [`${names.schema}.${name}`],
      });
      if (row === undefined) continue;
      const { phase, done, total } = row as { phase: string; done: number; total: number };
      const share = total > 0 ? `, ${Math.round((100 * done) / total)} %` : '';
      notify({ level: 'info', code: 'store_index_building', message: `Index ${name}: ${phase}${share}.` });
    }
  } catch {
    // The build is over, or the server is away, which the build itself tells.
  }
}
