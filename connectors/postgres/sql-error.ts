import { messageOf } from '../../src/errors/message-of.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ErrorCode } from '../../src/errors/codes.js';

/**
 * Gives an error of a driver its code, by SQLSTATE or by where it arose, never by its text.
 * @param broken the connection is gone: whatever the driver says then, the store was not reached
 */
export function classifySqlError(thrown: unknown, where: string, broken = false): MillraceError {
  if (thrown instanceof MillraceError) return thrown;
  // Of a host with several addresses: an error each, and no message of its own.
  const error: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  const state = sqlState(error);
  const { code, hint } = state === undefined || broken ? withoutState(error, broken) : classOf(state);
  const said = messageOf(error);
  const message = `${where}: ${said}${state === undefined ? '' : ` (SQLSTATE ${state})`}`;
  return new MillraceError(code as ErrorCode, message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Five characters, from an error that the database itself reported: only those have a severity. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

interface Classified {
  readonly code: ErrorCode;
  readonly hint?: string;
}

function withoutState(error: unknown, broken: boolean): Classified {
  const call = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  if (call === 'connect' || call === 'getaddrinfo') return unreachable;
  return broken || call !== undefined ? unavailable : { code: 'internal' };
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
function classOf(state: string): Classified {
  const one = states[state];
  if (one !== undefined) return one;
  return classes[state.slice(0, 2)] ?? { code: 'internal' };
}

const unreachable: Classified = {
  code: 'store_unavailable',
  hint: 'Is Postgres running there, and does it take connections from here?',
};
const unavailable: Classified = { code: 'store_unavailable' };
const refused: Classified = { code: 'store_refused' };

const states: Readonly<Record<string, Classified>> = {
  '25006': { code: 'store_unavailable', hint: 'The server is read-only: name the primary in `url`.' },
  '25P03': unavailable,
  '3D000': { code: 'store_unavailable', hint: 'Create the database that `url` names.' },
  '3F000': { code: 'store_layout' },
  '42P01': { code: 'store_layout' },
  '42501': { code: 'config_invalid', hint: 'Grant the role of `url` this right, or name another role.' },
  '0A000': { code: 'config_invalid' },
  '58P01': {
    code: 'config_invalid',
    hint: 'Install the pgvector extension (0.8 or newer) on the Postgres server.',
  },
  '2BP01': {
    code: 'generation_refused',
    hint: 'The view must be made anew: drop what was made of it, do this again, and make it again.',
  },
  '55P03': { code: 'store_conflict' },
  '57014': unavailable,
  '21000': refused,
};

const classes: Readonly<Record<string, Classified>> = {
  '08': unavailable,
  '22': refused,
  '23': refused,
  '28': { code: 'store_unavailable', hint: 'Check the user and the password in `url`.' },
  '40': { code: 'store_conflict' },
  '53': unavailable,
  '54': refused,
  '57': unavailable,
  '58': unavailable,
};
