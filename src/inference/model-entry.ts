import type { Loadable } from './loadable.js';

export interface Closable {
  close(): Promise<void>;
}

/** What the model manager knows of a model that is loaded or being loaded. */
export interface ModelEntry {
  readonly loadable: Loadable<unknown>;
  readonly model: Promise<Closable>;
  /** Whether the load has ended, well or not. */
  settled: boolean;
  /** Ends the load when nobody waits for it any more. */
  readonly giveUp: AbortController;
  uses: number;
  pinned: boolean;
  retired: boolean;
  closing: Promise<void> | undefined;
}

/** Begins to load a model that nobody uses yet. */
export function loadEntry(loadable: Loadable<Closable>): ModelEntry {
  const giveUp = new AbortController();
  const entry: ModelEntry = {
    loadable,
    giveUp,
    model: loadable.load(giveUp.signal).finally(() => (entry.settled = true)),
    settled: false,
    uses: 0,
    pinned: false,
    retired: false,
    closing: undefined,
  };
  return entry;
}
