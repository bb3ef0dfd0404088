import type { Json, Metadata } from '../elements/metadata.js';

/** Metadata keys (dots reach into objects: `meta.lang`) and the value each must have, or the values it may have. */
export type Filter = { readonly [path: string]: FilterValue | readonly FilterValue[] };
export type FilterValue = Extract<Json, string | number | boolean | null>;

export interface SearchQuery {
  /** Name of the space whose vectors are compared. */
  readonly space: string;
  /** As wide as the vectors of the space. */
  readonly vector: Float32Array;
  /** How many hits at most, from 1. */
  readonly k: number;
  readonly filter?: Filter;
}

export interface SearchHit {
  readonly chunkId: string;
  readonly documentId: string;
  readonly ordinal: number;
  /** Offsets into the document, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly metadata: Metadata;
  /** Cosine similarity, from -1 to 1; greater is nearer. */
  readonly score: number;
}

export interface ChunkSearch {
  /** Nearest chunks that have a vector in the space, best first; of equal scores the lower chunk id first. Never fewer than k while k chunks match. */
  search(query: SearchQuery, signal?: AbortSignal): Promise<readonly SearchHit[]>;
}
