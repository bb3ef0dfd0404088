import { MillraceError } from '../../errors/millrace-error.js';

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
    const error = MillraceError.from(thrown);
    const options = { cause: thrown };
    switch (error.code) {
      case 'aborted':
        return new ApiError(503, error.code, 'The server is stopping.', { ...options, retryAfter: 1 });
      // A text that the model cannot take: it would fail again.
      case 'inference_failed':
      case 'embedding_invalid':
      case 'worker_crashed':
        return new ApiError(422, error.code, error.message, options);
      default:
        return new ApiError(500, error.code, error.message, options);
    }
  }

  get body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } });
  }
}
