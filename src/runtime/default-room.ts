import type { AdmissionLimits } from '../flow/admission.js';

/** Something that takes documents, or what is made of them, in batches. */
export interface BatchTaker {
  /** Batches under way at once. */
  readonly concurrency: number;
  /** Items of a batch at most. */
  readonly items: number;
}

const mostForTakers = 2_000;

/**
 * How much may be under way at once where the configuration does not say: enough that no worker and no batch ever waits
 * for the source. More only waits, and what waits outlives the young generation: it costs memory and collection.
 *
 * Bytes: 2 MB a worker, at least 4 MB; a worker has some 1 MB of text before it (see `unitsAWorker`), and look-ups and
 * writes go on meanwhile. Elements: 256 a worker, at least 512, and two rounds of batches of each taker up to 2,000.
 */
export function defaultRoom(workers: number, takers: readonly BatchTaker[]): AdmissionLimits {
  const rounds = takers.reduce((sum, { concurrency, items }) => sum + 2 * concurrency * items, 0);
  const atLeast = Math.max(2, workers);
  return {
    elements: Math.max(atLeast * 256, Math.min(rounds, mostForTakers)),
    bytes: atLeast * 2 * 1024 * 1024,
  };
}
