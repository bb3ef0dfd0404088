import type { Clock } from '../../src/contracts/context.js';

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** A clock that stands still until a test moves it. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();
  #watchers: { readonly count: number; resolve(): void }[] = [];

  /** @param start milliseconds since 1970 */
  constructor(start: number = Date.now()) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const stop = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal!.reason as Error);
      };
      const sleeper: Sleeper = {
        until: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#sleepers.add(sleeper);
      this.#watchers = this.#watchers.filter((watcher) => {
        if (this.#sleepers.size < watcher.count) return true;
        watcher.resolve();
        return false;
      });
    });
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Resolves once so many sleep at the same time: nothing of theirs is under way. */
  asleep(count = 1): Promise<void> {
    if (this.#sleepers.size >= count) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.push({ count, resolve }));
  }

  /** When the next sleeper wakes; undefined while nobody sleeps. */
  get nextWake(): number | undefined {
    const times = [...this.#sleepers].map(({ until }) => until);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Moves time on and wakes, in the order of their times, all whose time has come. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#sleepers].sort((a, b) => a.until - b.until)[0];
      if (next === undefined || next.until > end) break;
      this.#now = Math.max(this.#now, next.until);
      next.wake();
    }
    this.#now = end;
  }
}
