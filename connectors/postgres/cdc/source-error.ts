import { MillraceError } from '../../../src/errors/millrace-error.js';
import { Interrupted } from './interrupted.js';
import { slotBusy, sqlStateOf } from './sql-state.js';

/** What a database reports may be tried again: it restarts, is short of something, or the connection broke. */
export function mayPass(error: unknown): boolean {
  if (error instanceof Interrupted) return true;
  const state = sqlStateOf(error);
  if (state === undefined) return false;
  return (
    ['08', '40', '53', '57'].includes(state.slice(0, 2)) ||
    [slotBusy, lostSlot, ...changedShape].includes(state)
  );
}

/** A table or a column of it is gone: the next look tells what it means. */
const changedShape = ['42P01', '42703'];

/** The slot was invalidated this very moment: the next look shows it. */
const lostSlot = '55000';

/** Gives what a driver or a server reports its code and a hint, by SQLSTATE. */
export function sourceError(thrown: unknown, where: string): MillraceError {
  const state = sqlStateOf(thrown);
  if (state === undefined && !(thrown instanceof Interrupted)) return MillraceError.from(thrown);
  const { message: said, cause } = thrown as Error;
  const hint = state === undefined ? unreachable : (hints[state] ?? hints[state.slice(0, 2)]);
  return new MillraceError(
    'source_unavailable',
    `${where}: ${said}${state === undefined ? '' : ` (SQLSTATE ${state})`}`,
    { cause: cause ?? thrown, ...(hint !== undefined && { hint }) },
  );
}

const unreachable = 'Is Postgres running there, and does it take connections from here?';

const hints: Readonly<Record<string, string>> = {
  '28': 'Check the user and the password in `url`; change data capture also needs a line for replication in pg_hba.conf.',
  '3D000': 'Create the database that `url` names.',
  '42501':
    'The role of `url` needs REPLICATION and SELECT on the tables; to make the publication also CREATE on the database and ownership of the tables.',
  '42704':
    'Was the publication dropped? What was changed without it cannot be read: drop the slot too, and all rows are read again.',
  '53400': 'Raise max_replication_slots and max_wal_senders.',
};
