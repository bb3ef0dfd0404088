import type { Clock } from '../../../src/contracts/context.js';

/** Lets one side wait for a sign of the other. */
export class Wake {
  #sleeper: AbortController | undefined;

  wake(): void {
    this.#sleeper?.abort();
    this.#sleeper = undefined;
  }

  /** Resolves at the next `wake`, after `ms`, or when the signal aborts. One waits at a time. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const sleeper = new AbortController();
    this.#sleeper = sleeper;
    const stop = () => sleeper.abort();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await clock.sleep(ms, sleeper.signal);
    } catch {
      // Woken.
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
