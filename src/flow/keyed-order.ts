/** Keeps the order of the work on one key; work on different keys goes side by side. */
export class KeyedOrder {
  /** Keys that somebody has, and who waits for them, in the order they came. */
  #waiting = new Map<string, (() => void)[] | undefined>();
  /** Keys that were taken since the map was made. */
  #taken = 0;

  /** Takes a key, until it is left, if nobody has it. @returns whether nobody had */
  enter(key: string): boolean {
    if (this.#waiting.has(key)) return false;
    this.#renew();
    this.#waiting.set(key, undefined);
    return true;
  }

  /** The next that waits for the key has it from now on. */
  leave(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else next();
  }

  /** Starts `task` once every earlier one of this key has ended, however it ended. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    if (!this.enter(key)) await this.#turn(key);
    try {
      return await task();
    } finally {
      this.leave(key);
    }
  }

  /**
   * Within V8 a map's table points to the one that replaced it as the map grew or shrank: one that got old would keep all
   * that came after it until the next full collection.
   */
  #renew(): void {
    this.#taken += 1;
    if (this.#taken < 1_024 || this.#taken < 4 * this.#waiting.size) return;
    this.#waiting = new Map(this.#waiting);
    this.#taken = 0;
  }

  #turn(key: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key);
      if (waiting === undefined) this.#waiting.set(key, [resolve]);
      else waiting.push(resolve);
    });
  }
}
