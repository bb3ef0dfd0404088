import { shared, size, union, type Interval } from './intervals.js';

/** What the measures are called, in the order in which they are shown. */
export const measureNames = ['recall', 'precision', 'iou'] as const;

/** Each from 0 to 1. */
export type Measures = Readonly<Record<(typeof measureNames)[number], number>>;

/**
 * Recall, precision and intersection over union of what was retrieved against the references, as the Chroma chunking
 * evaluation defines them (Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", 2024), but for this: a
 * position that several chunks hold counts once.
 * @param references a union with at least one position
 */
export function measure(retrieved: readonly Interval[], references: readonly Interval[]): Measures {
  const joined = union(retrieved);
  const found = shared(joined, references);
  const [wanted, got] = [size(references), size(joined)];
  return {
    recall: found / wanted,
    precision: got === 0 ? 0 : found / got,
    iou: found / (got + wanted - found),
  };
}
