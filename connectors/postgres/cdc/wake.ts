import type { Clock } from '../../../src/contracts/context.js';

/**
 * Lets one side wait for a sign of the other. One waits at a time, often thousands of times a second: so all that wait
 * within the same time share its timer.
 */
export class Wake {
  readonly #clock: Clock;
  readonly #over = new AbortController();
  #waiting: (() => void) | undefined;
  /** When the timer that is set wakes whoever waits then. */
  #due = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  /** No time is measured any more: whoever waits is woken. */
  end(): void {
    this.#over.abort();
    this.wake();
  }

  /** Resolves at the next `wake`, after `ms` at the latest. */
  wait(ms: number): Promise<void> {
    const due = this.#clock.now() + ms;
    if (due < this.#due) this.#wakeAt(due, ms);
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  #wakeAt(due: number, ms: number): void {
    this.#due = due;
    this.#clock.sleep(ms, this.#over.signal).then(
      () => {
        if (this.#due === due) this.#due = Infinity;
        this.wake();
      },
      () => undefined,
    );
  }
}
