import type { Clock } from '../../src/contracts/context.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { QdrantConfig } from './config.js';
import { createGate } from './gate.js';
import { classifyQdrantError, isAnswer } from './qdrant-error.js';

/** A request of the client, cut off by a signal. */
type Request<T> = (init: { signal: AbortSignal }) => Promise<{ readonly data: { readonly result?: T } }>;

/** After a call whose effect is unknown, where to make it twice is harmless. */
const retryDelaysMs = [100, 1000];
const longestDelayMs = 10_000;

/** Makes requests, so many at once, each within its time. @param where names the server in messages */
export function createCaller(
  { connections, timeout }: Pick<QdrantConfig, 'connections' | 'timeout'>,
  where: string,
  clock: Clock,
) {
  const gate = createGate(connections);

  async function once<T>(request: Request<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const over = new AbortController();
    const abort = () => over.abort(signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => over.abort(tooSlow(where, timeout)), timeout * 1000);
    try {
      const { data } = await request({ signal: over.signal });
      if (data.result !== undefined) return data.result;
      throw new MillraceError('store_unavailable', `${where} answered without a result.`);
    } catch (error) {
      signal?.throwIfAborted();
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Tried again after each delay, where an answer is still to come. */
  async function call<T>(
    request: Request<T>,
    signal?: AbortSignal,
    delaysMs: readonly number[] = retryDelaysMs,
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await gate(() => once(request, signal), signal);
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = classifyQdrantError(thrown, where);
        const delay = delaysMs[tries];
        if (error.code !== 'store_unavailable' || delay === undefined || isRefusal(thrown)) throw error;
        await clock.sleep(Math.max(delay, Math.min(error.retryAfterMs ?? 0, longestDelayMs)), signal);
      }
    }
  }

  /** A change that is only accepted may be lost, or take effect at any time: for the caller its effect is unknown. */
  async function change(
    request: Request<unknown>,
    signal?: AbortSignal,
    delaysMs?: readonly number[],
  ): Promise<void> {
    const completed: Request<unknown> = async (init) => {
      const answer = await request(init);
      const open = [answer.data.result]
        .flat()
        .map(statusOf)
        .find((status) => status !== 'completed');
      if (open === undefined) return answer;
      throw new MillraceError(
        'store_unavailable',
        `${where} accepted a change and did not complete it (${open}).`,
        { hint: 'The server is behind with its writes; it is asked again.' },
      );
    };
    await call(completed, signal, delaysMs);
  }

  return { call, change };
}

function tooSlow(where: string, timeout: number): MillraceError {
  return new MillraceError('store_unavailable', `${where} gave no answer within ${timeout} seconds.`, {
    hint: '`timeout` is how long one request may take, `maxRequestMb` how large it may be.',
  });
}

/** An answer that the same request will get again. */
function isRefusal(thrown: unknown): boolean {
  return isAnswer(thrown) && thrown.status < 500 && thrown.status !== 429 && thrown.status !== 408;
}

function statusOf(result: unknown): string {
  return typeof result === 'object' && result !== null && 'status' in result
    ? String(result.status)
    : 'no status';
}
