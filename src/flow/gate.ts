interface Waiting {
  readonly cost: number;
  enter(): void;
  reject(reason: Error): void;
}

/**
 * Lets work in while its costs together stay within a budget, in the order in which it came. Work over the budget by
 * itself goes in alone.
 */
export class Gate {
  readonly #budget: number;
  readonly #signal: AbortSignal;
  readonly #waiting: Waiting[] = [];
  #inside = 0;
  #cost = 0;

  /** @param signal refuses whatever waits, and whatever comes, with its reason; one listener for all of them */
  constructor(budget: number, signal: AbortSignal) {
    this.#budget = budget;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#refuse(), { once: true });
  }

  /** Runs `work` once there is room for it. */
  async run<T>(cost: number, work: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    if (this.#waiting.length > 0 || !this.#hasRoom(cost))
      await new Promise<void>((enter, reject) => this.#waiting.push({ cost, enter, reject }));
    else this.#take(cost);
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#cost -= cost;
      this.#admit();
    }
  }

  #hasRoom(cost: number): boolean {
    return this.#inside === 0 || this.#cost + cost <= this.#budget;
  }

  #take(cost: number): void {
    this.#inside += 1;
    this.#cost += cost;
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#hasRoom(this.#waiting[0]!.cost)) {
      const { cost, enter } = this.#waiting.shift()!;
      this.#take(cost);
      enter();
    }
  }

  #refuse(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(this.#signal.reason as Error);
  }
}
