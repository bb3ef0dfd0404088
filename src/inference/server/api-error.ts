import type { ErrorCode } from '../../errors/codes.js';
import { MillraceError } from '../../errors/millrace-error.js';

/** Failures that lie with a text: it would fail again. */
const refusesText: ReadonlySet<ErrorCode> = new Set([
  'inference_failed',
  'embedding_invalid',
  'worker_crashed',
]);

/** An answer other than success, in the shape that clients of OpenAI's API know. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  readonly code: string;
  readonly param: string | null;
  /** Seconds after which to ask again. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    { param = null, retryAfter, cause }: { param?: string | null; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
    this.code = code;
    this.param = param;
    this.retryAfter = retryAfter;
  }

  static from(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown;
    const { code, message } = MillraceError.from(thrown);
    if (code === 'aborted')
      return new ApiError(503, code, 'The server is stopping.', { cause: thrown, retryAfter: 1 });
    return new ApiError(refusesText.has(code) ? 422 : 500, code, message, { cause: thrown });
  }

  get body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } });
  }
}
