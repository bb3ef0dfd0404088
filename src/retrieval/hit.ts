import type { SearchHit } from '../contracts/chunk-search.js';
import type { Passage } from './passage.js';

/** How chunks are found: by their vectors, by their words, or by both, fused by rank. */
export const searchModes = ['dense', 'sparse', 'hybrid'] as const;
export type SearchMode = (typeof searchModes)[number];

/**
 * What a score is: cosine similarity from -1 to 1, BM25 above 0, or a sum of reciprocal ranks in several lists (see
 * `fuseByRank`).
 */
export type ScoreKind = 'cosine' | 'bm25' | 'rank';

/** A chunk that answers. */
export interface Hit extends SearchHit {
  /** By `scoreKind`; greater is better. Scores of two kinds, or of two models, cannot be compared. */
  readonly score: number;
  readonly scoreKind: ScoreKind;
  readonly mode: SearchMode;
  /** Asked for by `neighbours`: the chunk with those around it. */
  readonly passage?: Passage;
}
