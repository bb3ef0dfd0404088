import type { Store } from '../../src/contracts/store.js';

/** A place under test. Tests take a pipeline of their own each, so they share one. */
export interface StoreHarness {
  /** A handle on a pipeline of the place, not prepared; each call gives another one, as another process would have. */
  open(pipeline: string): Promise<Store>;
  /** Closes all handles and removes the place. */
  close(): Promise<void>;
}

export type OpenHarness = () => Promise<StoreHarness>;

/** Milliseconds that a test or its preparation may take: far more than it does, for machines that are busy. */
export const patience = 120_000;
