import { messageOf } from '../../../src/errors/message-of.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { sqlStateOf } from './sql-state.js';

/** A connection was lost, or this process is not the one that reads any more: another session may go on. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** What a driver throws: what the server reports, or was classified, as it is; else the connection failed. */
export function interruption(error: unknown): unknown {
  if (sqlStateOf(error) !== undefined || error instanceof MillraceError || error instanceof Interrupted)
    return error;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return new Interrupted(messageOf(first), { cause: first });
}
