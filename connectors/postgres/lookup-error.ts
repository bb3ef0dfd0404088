import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ErrorCode } from '../../src/errors/codes.js';

/** What an error of a database means to a look-up: an outage, a query that is wrong, or a key that it cannot take. */
export function lookupError(thrown: unknown): MillraceError {
  const error = MillraceError.from(thrown);
  const code = codeOf(error);
  return new MillraceError(code, error.message, {
    cause: error.cause ?? error,
    ...hintOf(code, error),
  });
}

/** There is no such table: `store_layout`. */
const codes: Partial<Record<ErrorCode, ErrorCode>> = {
  store_unavailable: 'remote_unavailable',
  store_conflict: 'remote_failed',
  store_refused: 'transform_failed',
  store_layout: 'config_invalid',
};

/** A transaction that only reads was asked to write. */
const readOnly = '25006';

function codeOf({ code, cause }: MillraceError): ErrorCode {
  if (sqlState(cause) === readOnly) return 'config_invalid';
  // A statement that no server understands: a syntax error, or a name that is none.
  if (code === 'internal' && sqlState(cause)?.startsWith('42') === true) return 'config_invalid';
  return codes[code] ?? code;
}

function hintOf(code: ErrorCode, { hint, cause }: MillraceError) {
  if (sqlState(cause) === readOnly)
    return { hint: 'The query of a look-up only reads: take what writes out of it.' };
  if (hint !== undefined) return { hint };
  if (code === 'config_invalid')
    return { hint: 'Try the query of the look-up by hand, with a list of keys for $1.' };
  if (code === 'transform_failed')
    return {
      hint: 'The database cannot take this key: compare `key` with the column that it is looked for in.',
    };
  return {};
}

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
