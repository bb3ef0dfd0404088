import { parseLsn, type Lsn } from './lsn.js';
import type { SqlSession } from './sql-session.js';

/** Everything before is durable in the log, if not yet visible to queries. */
export async function endOfFlushedLog(sql: SqlSession): Promise<Lsn> {
  const [row] = await sql.rows('select pg_current_wal_flush_lsn()');
  return parseLsn(row![0]!);
}
