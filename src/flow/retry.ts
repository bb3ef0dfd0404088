import type { ErrorCode } from '../errors/codes.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Clock } from '../contracts/context.js';
import type { Chance } from './chance.js';
import { errorPolicy } from './error-policy.js';

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gives up after this many tries, outages too. Default: the policy alone decides. */
  readonly maxTries?: number;
  /** Spreads the waits of many callers: each is up to a quarter longer. Default: no spread. */
  readonly chance?: Chance | undefined;
  /** Called before each wait. `pausing` tells an outage, which has no last try, from a short retry. */
  onRetry?(retry: { error: MillraceError; attempt: number; delayMs: number; pausing: boolean }): void;
  /** Called once when a call passes after it had failed. */
  onRecovered?(): void;
}

/**
 * Makes a call again by the error policy, and never before the time that the error itself asks for. Tries are counted for
 * each code: an outage before it leaves a conflict all of its own. Rejects with the last error, or the signal's reason
 * while it waits.
 */
export async function retry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, signal, maxTries = Infinity } = options;
  const failures = new Map<ErrorCode, number>();
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      const result = await call();
      if (attempt > 1) options.onRecovered?.();
      return result;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = MillraceError.from(thrown);
      const failed = (failures.get(error.code) ?? 0) + 1;
      failures.set(error.code, failed);
      const delayMs = delayBefore(error, failed, options.chance);
      if (delayMs === undefined || attempt >= maxTries) throw error;
      options.onRetry?.({ error, attempt, delayMs, pausing: errorPolicy[error.code].action === 'pause' });
      await clock.sleep(delayMs, signal);
    }
  }
}

/** @param failed how often the call failed so, from 1 */
function delayBefore(error: MillraceError, failed: number, chance: Chance = () => 0): number | undefined {
  const policy = errorPolicy[error.code];
  if (policy.action !== 'retry' && policy.action !== 'pause') return undefined;
  const last = policy.action === 'pause' ? Math.min(failed, policy.delaysMs.length) : failed;
  const delayMs = policy.delaysMs[last - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(delayMs, error.retryAfterMs ?? 0) * (1 + chance() / 4);
}
