import type { Clock } from '../contracts/context.js';
import { untilAborted } from '../errors/until-aborted.js';

export interface BreakerOptions {
  readonly clock: Clock;
  /** Makes the smallest call that there is. @returns whether the service answers */
  probe(): Promise<boolean>;
}

/**
 * Tells a service that is down from one call that it cannot serve, and keeps calls from a service that is down or has
 * asked for patience. However many calls fail at once, one probe is made.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #heldUntil = 0;
  #down = false;
  #probing: Promise<boolean> | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Nobody calls for so long. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#options.clock.now() + ms);
  }

  /** Waits while calls are held. @returns whether to call: false when the service is still down */
  async pass(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    while (clock.now() < this.#heldUntil) await clock.sleep(this.#heldUntil - clock.now(), signal);
    return !this.#down || this.answers(signal);
  }

  /** Asks the service. Until it has answered, every `pass` asks again. */
  answers(signal: AbortSignal): Promise<boolean> {
    this.#probing ??= this.#options
      .probe()
      .then((up) => {
        this.#down = !up;
        return up;
      })
      .finally(() => (this.#probing = undefined));
    return untilAborted(this.#probing, signal);
  }
}
