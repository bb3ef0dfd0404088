import { causeMessages } from '../../src/errors/causes.js';
import { MillraceError } from '../../src/errors/millrace-error.js';

/** What the client throws for an answer of the server. */
interface Answer {
  readonly status: number;
  readonly data: unknown;
}

/** Gives an error of the client its code, by the status of the answer or for want of one. */
export function classifyQdrantError(thrown: unknown, where: string): MillraceError {
  if (thrown instanceof MillraceError) return thrown;
  if (isExhausted(thrown))
    return new MillraceError('store_unavailable', `${where} has had enough requests for now (HTTP 429).`, {
      cause: thrown,
      retryAfterMs: thrown.retry_after * 1000,
    });
  if (isOfNetwork(thrown))
    return new MillraceError('store_unavailable', `${where}: ${causeMessages(thrown).join(': ')}`, {
      cause: thrown,
      hint: 'Is Qdrant running there, and does it take connections from here?',
    });
  if (!isAnswer(thrown)) return MillraceError.from(thrown);
  const { status } = thrown;
  const message = `${where}: ${said(thrown.data)} (HTTP ${status})`;
  switch (status) {
    case 400:
    case 422:
      return new MillraceError('store_refused', message, { cause: thrown });
    case 413:
      return new MillraceError('store_refused', message, {
        cause: thrown,
        hint: "Lower `maxRequestMb`, or raise the server's `max_request_size_mb`.",
      });
    case 401:
    case 403:
      return new MillraceError('store_unavailable', message, { cause: thrown, hint: 'Check `apiKey`.' });
    case 404:
      return new MillraceError('store_layout', message, {
        cause: thrown,
        hint: 'Prepare the store before the first write: `millrace run` does.',
      });
    default:
      return new MillraceError('store_unavailable', message, { cause: thrown });
  }
}

/** `fetch` says that something went wrong, and what it was as the cause. */
function isOfNetwork(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined;
}

export function isAnswer(error: unknown): error is Answer & Error {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' && 'data' in error;
}

/** The server's own words: `{ status: { error: … } }`. */
function said(data: unknown): string {
  const status = typeof data === 'object' && data !== null && 'status' in data ? data.status : undefined;
  const error = typeof status === 'object' && status !== null && 'error' in status ? status.error : undefined;
  return typeof error === 'string' ? error.slice(0, 1000) : 'the server gives no reason';
}

/** What the client makes of a 429 with `Retry-After`: the first digit of it, so it is asked again rather too early. */
function isExhausted(error: unknown): error is Error & { readonly retry_after: number } {
  return error instanceof Error && 'retry_after' in error && typeof error.retry_after === 'number';
}
