import type { Artifacts } from '../contracts/artifacts.js';
import type { Clock } from '../contracts/context.js';
import type { SourceState } from '../contracts/source.js';
import { retry } from '../flow/retry.js';
import type { Report } from '../observability/events.js';

export interface SourceStateOptions {
  readonly artifacts: Artifacts;
  /** Name of the source. */
  readonly source: string;
  readonly clock: Clock;
  /** Ends the wait for a store that is away; from then on each call is tried once. */
  readonly signal: AbortSignal;
  readonly report: Report;
}

/**
 * What a source remembers, as an artifact of its own in the store; outages are waited out. A replacement whose answer was
 * lost is made again and then says that it was not done: the source looks again, as after any other's change.
 */
export function sourceState({ artifacts, source, clock, signal, report }: SourceStateOptions): SourceState {
  const name = `source ${source}`;
  const patiently = async <T>(call: () => Promise<T>): Promise<T> =>
    // What is settled after the last was read is still remembered.
    signal.aborted
      ? call()
      : retry(call, {
          clock,
          signal,
          onRetry: (event) => report({ type: 'retry', lane: 'sink', ...event }),
          onRecovered: () => report({ type: 'recovered', lane: 'sink' }),
        });
  return {
    read: () => patiently(() => artifacts.read(name)),
    replace: (expected, value) => patiently(() => artifacts.replace(name, expected, value)),
  };
}
