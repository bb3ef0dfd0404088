import { setMaxListeners } from 'node:events';
import { MillraceError } from '../errors/millrace-error.js';
import type { Clock } from '../contracts/context.js';

/**
 * The two steps of a stop. `drain` reads nothing more and lets what is under way finish until a deadline; `abort` gives
 * up what is under way, unacknowledged.
 */
export class Stop {
  readonly #draining = new AbortController();
  readonly #aborting = new AbortController();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    // Every call under way listens; Node takes more than ten for a leak.
    setMaxListeners(0, this.draining, this.aborting);
  }

  /** Aborts when nothing more shall be read. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  /** Aborts when what is under way shall be given up. */
  get aborting(): AbortSignal {
    return this.#aborting.signal;
  }

  drain(deadlineMs: number): void {
    if (this.#draining.signal.aborted) return;
    this.#draining.abort(new MillraceError('aborted', 'The run is stopping: nothing more is read.'));
    this.#clock.sleep(deadlineMs, this.#aborting.signal).then(
      () => this.abort(),
      () => undefined,
    );
  }

  abort(): void {
    const reason = new MillraceError(
      'aborted',
      'The run was stopped before everything under way had finished.',
    );
    if (!this.#draining.signal.aborted) this.#draining.abort(reason);
    if (!this.#aborting.signal.aborted) this.#aborting.abort(reason);
  }

  /** Ends the wait for the deadline: the run is over. */
  settle(): void {
    if (this.#draining.signal.aborted) this.abort();
  }
}
