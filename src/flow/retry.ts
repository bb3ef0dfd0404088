import { MillraceError } from '../errors/millrace-error.js';
import type { Clock } from '../contracts/context.js';
import { errorPolicy } from './error-policy.js';

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before each wait. `pausing` tells an outage, which has no last try, from a short retry. */
  onRetry?(retry: { error: MillraceError; attempt: number; delayMs: number; pausing: boolean }): void;
  /** Called once when a call passes after it had failed. */
  onRecovered?(): void;
}

/** Makes a call again by the error policy. Rejects with the last error, or the signal's reason while it waits. */
export async function retry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      const result = await call();
      if (attempt > 1) options.onRecovered?.();
      return result;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = MillraceError.from(thrown);
      const delayMs = delayBefore(error, attempt);
      if (delayMs === undefined) throw error;
      options.onRetry?.({ error, attempt, delayMs, pausing: errorPolicy[error.code].action === 'pause' });
      await clock.sleep(delayMs, signal);
    }
  }
}

function delayBefore(error: MillraceError, attempt: number): number | undefined {
  const policy = errorPolicy[error.code];
  if (policy.action === 'retry') return policy.delaysMs[attempt - 1];
  if (policy.action === 'pause') return policy.delaysMs[Math.min(attempt, policy.delaysMs.length) - 1];
  return undefined;
}
