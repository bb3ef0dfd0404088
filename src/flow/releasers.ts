export type Release = () => void | Promise<void>;

/**
 * A stack of what must be given back. The moment a resource exists its releaser is pushed; an error on the way up and a
 * clean stop unwind the same way, last in first out.
 */
export class Releasers {
  readonly #stack: Release[] = [];

  push(release: Release): void {
    this.#stack.push(release);
  }

  /** Runs every releaser once, also when one throws. @throws AggregateError of what they threw */
  async release(): Promise<void> {
    const errors: unknown[] = [];
    for (let release = this.#stack.pop(); release !== undefined; release = this.#stack.pop()) {
      try {
        await release();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, 'Several resources could not be released.');
  }

  /** Runs `work`; when it throws, releases what was pushed so far and rethrows. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.release().catch(() => undefined);
      throw error;
    }
  }
}
