import type { ErrorCode } from './codes.js';
import { messageOf } from './message-of.js';

export interface ErrorDetails {
  readonly cause?: unknown;
  /** What the operator can do about it, as one sentence. */
  readonly hint?: string;
  /** A remote service asked not to be called again for so long. */
  readonly retryAfterMs?: number | undefined;
}

/** The one error class. `code` says what happened; `message` says what, where; `hint` says how to mend it. */
export class MillraceError extends Error {
  override readonly name = 'MillraceError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The error itself when it is classified already, else an `internal` one around it. */
  static from(error: unknown): MillraceError {
    if (error instanceof MillraceError) return error;
    const message = messageOf(error);
    return new MillraceError('internal', message, { cause: error });
  }
}
