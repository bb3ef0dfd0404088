import { MillraceError } from '../../../src/errors/millrace-error.js';
import { parseLsn, type Lsn } from './lsn.js';
import { sqlStateOf } from './sql-state.js';
import type { SqlSession } from './sql-session.js';

/** What the server says of the slot. */
export interface Slot {
  /** Transactions committed before are not sent again. */
  readonly confirmed: Lsn;
  /** The server has removed log that it needs: it can never be read again. */
  readonly lost: boolean;
  /** False while a connection makes it, which may have to wait for transactions. */
  readonly made: boolean;
  /** Process id of the connection that reads it, or makes it. */
  readonly reader: number | undefined;
}

const slotSql = `
  select plugin, database = current_database(), confirmed_flush_lsn, restart_lsn, wal_status, active_pid
  from pg_replication_slots where slot_name = $1`;

/** @throws MillraceError `config_invalid` when a slot of this name is of another kind */
export async function lookAtSlot(sql: SqlSession, name: string): Promise<Slot | undefined> {
  const [row] = await sql.rows(slotSql, [name]);
  if (row === undefined) return undefined;
  const [plugin, here, confirmed, restart, status, pid] = row;
  if (plugin !== 'pgoutput' || here !== 't')
    throw new MillraceError(
      'config_invalid',
      `The replication slot ${name} is ${plugin === 'pgoutput' ? 'of another database' : 'not of pgoutput'}.`,
      { hint: 'Name another one in `slot`.' },
    );
  return {
    confirmed: confirmed === null ? 0n : parseLsn(confirmed!),
    made: confirmed !== null,
    lost: status === 'lost' || restart === null,
    reader: pid === null ? undefined : Number(pid),
  };
}

/** Waits for the transactions that are under way. @returns whether it was made here: false when another process was first */
export async function createSlot(sql: SqlSession, name: string, failover: boolean): Promise<boolean> {
  try {
    await sql.patientRows(
      failover
        ? "select from pg_create_logical_replication_slot($1, 'pgoutput', false, false, true)"
        : "select from pg_create_logical_replication_slot($1, 'pgoutput')",
      [name],
    );
    return true;
  } catch (error) {
    if (sqlStateOf(error) === '42710') return false;
    throw error;
  }
}

export async function dropSlot(sql: SqlSession, name: string): Promise<void> {
  await sql.rows(
    'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
    [name],
  );
}
