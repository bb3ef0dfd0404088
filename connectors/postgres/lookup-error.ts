import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ErrorCode } from '../../src/errors/codes.js';

/** What an error of a database means to a look-up: an outage, a query that is wrong, or a key that it cannot take. */
export function lookupError(thrown: unknown): MillraceError {
  const error = MillraceError.from(thrown);
  const code = codeOf(error);
  return new MillraceError(code, error.message, {
    cause: error.cause ?? error,
    ...hintOf(code, error.hint),
  });
}

function codeOf({ code, cause }: MillraceError): ErrorCode {
  switch (code) {
    case 'store_unavailable':
      return 'remote_unavailable';
    case 'store_conflict':
      return 'remote_failed';
    case 'store_refused':
      return 'transform_failed';
    // There is no such table.
    case 'store_layout':
      return 'config_invalid';
    // A statement that no server understands: syntax error, or a name that is none.
    case 'internal':
      return sqlState(cause)?.startsWith('42') === true ? 'config_invalid' : 'internal';
    default:
      return code;
  }
}

function hintOf(code: ErrorCode, hint: string | undefined) {
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
