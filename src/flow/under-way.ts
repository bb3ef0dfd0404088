import type { Clock } from '../contracts/context.js';

/** How long what is under way has been so. */
export class UnderWay {
  readonly #clock: Clock;
  readonly #since = new Map<symbol, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns what to call when it is over */
  enter(): () => void {
    const one = Symbol();
    this.#since.set(one, this.#clock.now());
    return () => void this.#since.delete(one);
  }

  /** Milliseconds since the oldest began; 0 while nothing is under way. */
  get oldestMs(): number {
    // A map keeps the order in which they came.
    for (const since of this.#since.values()) return Math.max(0, this.#clock.now() - since);
    return 0;
  }
}
