import type { Clock } from '../../contracts/context.js';
import type { LookupCache } from '../../contracts/lookup.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { within } from '../../flow/within.js';
import type { Report } from '../../observability/events.js';

export interface CarefulCacheOptions {
  readonly cache: LookupCache;
  /** Name of the step, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** A cache that takes longer is no help. */
const patienceMs = 500;
/** How long a cache that failed is left alone; the last one repeats. */
const restMs = [500, 2_000, 10_000];

/** A cache whose outage slows and never fails: then nothing is found in it, and it is left alone for a while. */
export function createCarefulCache({ cache, name, clock, signal, report }: CarefulCacheOptions): LookupCache {
  let failures = 0;
  let restsUntil = 0;

  async function careful<T>(work: (signal: AbortSignal) => Promise<T>, otherwise: T): Promise<T> {
    if (clock.now() < restsUntil) return otherwise;
    try {
      const late = () =>
        new MillraceError('remote_unavailable', `It did not answer within ${patienceMs} ms.`);
      const result = await within({ ms: patienceMs, clock, signal, late }, work);
      if (failures > 0) tell('info', 'lookup_cache_back', `The cache of "${name}" is back.`);
      failures = 0;
      return result;
    } catch (error) {
      signal.throwIfAborted();
      const { message } = MillraceError.from(error);
      if (failures === 0)
        tell('warn', 'lookup_cache_lost', `The cache of "${name}" is not used for now: ${message}`);
      restsUntil = clock.now() + restMs[Math.min(failures, restMs.length - 1)]!;
      failures += 1;
      return otherwise;
    }
  }

  function tell(level: 'info' | 'warn', code: string, message: string): void {
    report({ type: 'notice', level, code, message });
  }

  return {
    get: (keys) =>
      careful(
        (cut) => cache.get(keys, cut),
        keys.map(() => undefined),
      ),
    set: (entries) => careful((cut) => cache.set(entries, cut), undefined),
    close: () => cache.close(),
  };
}
