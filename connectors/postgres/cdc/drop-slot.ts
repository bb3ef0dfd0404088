import type { Clock } from '../../../src/contracts/context.js';
import { dropSlot } from './slot.js';
import { slotBusy, sqlStateOf } from './sql-state.js';
import { openSqlSession, type ServerOptions } from './sql-session.js';

const lookMs = 100;

/** Drops a slot whose reader has just gone: the server takes a moment to see that. */
export async function dropSlotOnceFree(
  server: ServerOptions,
  names: { readonly slot: string; readonly application: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const sql = await openSqlSession(server, names.application, clock, signal);
  try {
    for (;;) {
      try {
        return await dropSlot(sql, names.slot);
      } catch (error) {
        if (sqlStateOf(error) !== slotBusy) throw error;
        await clock.sleep(lookMs, signal);
      }
    }
  } finally {
    await sql.close();
  }
}
