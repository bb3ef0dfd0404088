import type { SqlConnection, SqlRow, SqlStep } from './connection.js';
import { planByKey } from './fence-sql.js';

/** A transaction that finds rows by their keys. @returns whether all steps took effect, and the rows of the last that did */
export async function transactByKey(
  connection: SqlConnection,
  steps: readonly SqlStep[],
  signal?: AbortSignal,
): Promise<{ readonly whole: boolean; readonly rows: readonly SqlRow[] }> {
  const done = await connection.transaction([planByKey, ...steps], signal);
  return { whole: done.length === steps.length + 1, rows: done.at(-1)! };
}
