import type { Clock } from '../contracts/context.js';
import { untilAborted } from '../errors/until-aborted.js';

export interface WithinOptions {
  /** Longest time of the work, in ms. */
  readonly ms: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What it rejects with when the time is over. */
  late(): Error;
}

/**
 * Runs work under a signal that aborts when its time is over or `signal` aborts. It ends then, whether or not the work pays
 * heed to the signal.
 */
export async function within<T>(
  { ms, clock, signal, late }: WithinOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const cut = new AbortController();
  const timer = new AbortController();
  const abort = () => cut.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  clock.sleep(ms, timer.signal).then(
    () => cut.abort(late()),
    () => undefined,
  );
  try {
    return await untilAborted(work(cut.signal), cut.signal);
  } finally {
    signal.removeEventListener('abort', abort);
    timer.abort('over');
  }
}
