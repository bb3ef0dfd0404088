import type { EntryId } from './entry-id.js';

/** The entries that this process has read and not yet confirmed. */
export class Held {
  readonly #ids = new Set<EntryId>();
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#ids.size;
  }

  has(id: EntryId): boolean {
    return this.#ids.has(id);
  }

  add(ids: readonly EntryId[]): void {
    for (const id of ids) this.#ids.add(id);
  }

  remove(ids: readonly EntryId[]): void {
    for (const id of ids) this.#ids.delete(id);
    if (this.#ids.size > 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves once nothing is held, or the signal aborts. */
  async empty(signal: AbortSignal): Promise<void> {
    if (this.#ids.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
    });
  }
}
