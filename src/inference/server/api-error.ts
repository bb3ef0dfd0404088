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

  /** @param place of the text that it is about, as the client calls it */
  static of(thrown: unknown, place?: string): ApiError {
    if (thrown instanceof ApiError) return thrown;
    const { code, message } = MillraceError.from(thrown);
    if (code === 'aborted') return ApiError.stopping(thrown);
    if (!refusesText.has(code)) return new ApiError(500, code, message, { cause: thrown });
    if (place === undefined) return new ApiError(422, code, message, { cause: thrown });
    return new ApiError(422, code, `${place}: ${message}`, { param: 'input', cause: thrown });
  }

  static stopping(cause?: unknown): ApiError {
    return new ApiError(503, 'stopping', 'The server is stopping.', { retryAfter: 1, cause });
  }

  get body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } });
  }
}
