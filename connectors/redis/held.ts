import type { EntryId } from './entry-id.js';

/** The entries that this process has read and not yet confirmed, as many at a time as are confirmed together. */
export class Held {
  readonly #rounds = new Set<readonly EntryId[]>();
  readonly #waiting = new Set<() => void>();

  get isEmpty(): boolean {
    return this.#rounds.size === 0;
  }

  ids(): ReadonlySet<EntryId> {
    const all = new Set<EntryId>();
    for (const ids of this.#rounds) for (const id of ids) all.add(id);
    return all;
  }

  add(ids: readonly EntryId[]): void {
    if (ids.length > 0) this.#rounds.add(ids);
  }

  /** @param ids the very list that was added */
  remove(ids: readonly EntryId[]): void {
    this.#rounds.delete(ids);
    if (!this.isEmpty) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves once nothing is held, or the signal aborts. */
  async empty(signal: AbortSignal): Promise<void> {
    if (this.isEmpty || signal.aborted) return;
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
