import type { Clock } from '../contracts/context.js';
import { untilAborted } from '../errors/until-aborted.js';

export interface RateLimits {
  /** Length of the window, in ms. Default: 60 seconds. */
  readonly windowMs?: number;
  /** Calls in any window; undefined: no limit. */
  readonly requests?: number | undefined;
  /** Tokens in any window; undefined: no limit. */
  readonly tokens?: number | undefined;
}

/** A call that was let through. */
export interface Admission {
  /** Puts in place of what was estimated what the call really cost. */
  correct(tokens: number): void;
}

interface Entry {
  readonly at: number;
  tokens: number;
  /** It is out of the window. */
  past: boolean;
}

const minuteMs = 60_000;

/**
 * Keeps calls within requests and tokens a window (a minute), both at once, in the order in which they came. A sliding log: in no
 * window is a limit passed. A call of more tokens than the limit goes alone, once the window is empty.
 */
export class RateLimiter {
  readonly #limits: RateLimits;
  readonly #clock: Clock;
  readonly #windowMs: number;
  /** Calls of the last window, oldest first. */
  readonly #log: Entry[] = [];
  #tokens = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#windowMs = limits.windowMs ?? minuteMs;
  }

  /** Resolves when the call may be made; rejects with the signal's reason while it waits, and counts nothing then. */
  take(tokens: number, signal: AbortSignal): Promise<Admission> {
    const { requests, tokens: most } = this.#limits;
    if (requests === undefined && most === undefined) return Promise.resolve({ correct: () => undefined });
    const admitted = this.#turn.then(() => this.#admit(tokens, signal));
    this.#turn = admitted.catch(() => undefined);
    return untilAborted(admitted, signal);
  }

  async #admit(tokens: number, signal: AbortSignal): Promise<Admission> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.now();
      this.#forget(now);
      if (this.#hasRoom(tokens)) break;
      await this.#clock.sleep(this.#log[0]!.at + this.#windowMs - now, signal);
    }
    const entry: Entry = { at: this.#clock.now(), tokens, past: false };
    this.#log.push(entry);
    this.#tokens += tokens;
    return {
      correct: (real) => {
        if (!entry.past) this.#tokens += real - entry.tokens;
        entry.tokens = real;
      },
    };
  }

  #hasRoom(tokens: number): boolean {
    if (this.#log.length === 0) return true;
    const { requests = Infinity, tokens: most = Infinity } = this.#limits;
    return this.#log.length < requests && this.#tokens + tokens <= most;
  }

  #forget(now: number): void {
    const kept = this.#log.findIndex(({ at }) => at + this.#windowMs > now);
    for (const entry of this.#log.splice(0, kept === -1 ? this.#log.length : kept)) {
      entry.past = true;
      this.#tokens -= entry.tokens;
    }
  }
}
