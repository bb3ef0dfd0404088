/** Work that was begun side by side. */
export class Begun {
  readonly #all: Promise<void>[] = [];
  #fault: { readonly reason: unknown } | undefined;

  add(work: Promise<void>): void {
    this.#all.push(
      work.catch((reason: unknown) => {
        this.#fault ??= { reason };
      }),
    );
  }

  /** Resolves once all of it has ended, what was added meanwhile too. Rejects then with what rejected first. */
  async over(): Promise<void> {
    for (let at = 0; at < this.#all.length; at += 1) await this.#all[at];
    if (this.#fault !== undefined) throw this.#fault.reason;
  }
}
