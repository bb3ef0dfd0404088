import type { Terms } from '../../src/elements/terms.js';

export interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

/** The parameters that chunks are written with; a search has its own, and is ranked anew by them. */
const k1 = 1.2;
const b = 0.75;
const meanWords = 256;

/** Name of the sparse vector: no space can have it. */
export const termsVector = '_terms';

export function wordsOf({ counts }: Terms): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What each word of a chunk adds to its score before it is told how rare it is, as BM25 would for chunks of usual length. */
export function termWeights(terms: Terms): SparseVector {
  const norm = normOf(wordsOf(terms));
  return {
    indices: Array.from(terms.ids),
    values: Array.from(terms.counts, (count) => Math.fround((count * (k1 + 1)) / (count + norm))),
  };
}

/** How often a word occurs in a chunk, from its weight. */
export function countOf(weight: number, words: number): number {
  return Math.round((weight * normOf(words)) / (k1 + 1 - weight));
}

function normOf(words: number): number {
  return k1 * (1 - b + (b * words) / meanWords);
}
