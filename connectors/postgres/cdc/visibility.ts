import type { ConnectorContext } from '../../../src/contracts/context.js';
import type { Session } from './session.js';
import { parseSnapshot } from './snapshot.js';

/** Since when somebody may want to know that the reading of rows waits for other transactions. */
const patienceMs = 10_000;

/**
 * Whether queries see all that was committed before the point from which all rows are read: a transaction is in the log a
 * little before it is visible, and with synchronous replication long before. Once seen it stays so.
 */
export function visibility(
  { sql, backfill }: Session,
  { clock, notify }: ConnectorContext,
): () => Promise<boolean> {
  let [seen, told] = [backfill?.reading.begun ?? true, false];
  let horizon: bigint | undefined;
  const began = clock.now();
  return async () => {
    if (seen) return true;
    // A transaction of our own: every one that has written to the log by now is older.
    horizon ??= BigInt((await sql.rows('select pg_current_xact_id()'))[0]![0]!);
    const [row] = await sql.rows('select pg_current_snapshot()');
    seen = parseSnapshot(row![0]!).xmin > horizon;
    if (!seen && !told && clock.now() - began > patienceMs) {
      told = true;
      notify({
        level: 'info',
        code: 'source_waiting',
        message: 'The reading of all rows waits for transactions that were open when it began.',
      });
    }
    return seen;
  };
}
