import type { Clock } from '../contracts/context.js';
import type { FailedStore } from '../contracts/failed-store.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Report } from '../observability/events.js';

export interface RetentionOptions {
  readonly failed: FailedStore;
  /** How long a failed element is kept; undefined: nothing is forgotten for its age. */
  readonly retentionMs: number | undefined;
  readonly clock: Clock;
  readonly report: Report;
}

const mostMs = 3_600_000;

/**
 * Forgets failed elements of over their retention: at once, and then every tenth of it or every hour. A place that
 * refuses is asked again the next time, and told once.
 * @returns ends it, and waits for what is under way
 */
export function keepRetention({ failed, retentionMs, clock, report }: RetentionOptions): () => Promise<void> {
  if (retentionMs === undefined) return async () => undefined;
  const over = new AbortController();
  let told = false;
  const work = (async () => {
    while (!over.signal.aborted) {
      try {
        await failed.expire(new Date(clock.now() - retentionMs).toISOString());
        told = false;
      } catch (error) {
        const { message } = MillraceError.from(error);
        if (!told)
          report({
            type: 'notice',
            level: 'warn',
            code: 'retention_refused',
            message: `Old failed elements are still there: ${message}`,
          });
        told = true;
      }
      await clock
        .sleep(Math.max(1_000, Math.min(mostMs, retentionMs / 10)), over.signal)
        .catch(() => undefined);
    }
  })();
  return async () => {
    over.abort();
    await work;
  };
}
