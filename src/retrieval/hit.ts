import type { SearchHit } from '../contracts/chunk-search.js';
import type { Passage } from './passage.js';

/** What a score is: cosine similarity from -1 to 1, or a sum of reciprocal ranks in several lists (see `fuseByRank`). */
export type ScoreKind = 'cosine' | 'rank';

/** A chunk that answers. */
export interface Hit extends SearchHit {
  /** By `scoreKind`; greater is better. Scores of two kinds, or of two models, cannot be compared. */
  readonly score: number;
  readonly scoreKind: ScoreKind;
  /** Asked for by `neighbours`: the chunk with those around it. */
  readonly passage?: Passage;
}
