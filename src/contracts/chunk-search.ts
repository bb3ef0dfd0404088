import type { Condition } from '../elements/filter/condition.js';
import type { Metadata } from '../elements/metadata.js';
import type { Terms } from '../elements/terms.js';

export interface SearchQuery {
  /** Number of the generation whose space is meant: once another one is active the search is refused with `generation_moved`. */
  readonly generation?: number;
  /** Name of the space whose vectors are compared. */
  readonly space: string;
  /** As wide as the vectors of the space. */
  readonly vector: Float32Array;
  /** How many hits at most, from 1. */
  readonly k: number;
  /** On the metadata; what `readFilter` gives. Default: every chunk. */
  readonly filter?: Condition;
}

/** A chunk as the store gives it back. */
export interface StoredChunk {
  readonly chunkId: string;
  readonly documentId: string;
  readonly ordinal: number;
  /** Offsets into the document, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly metadata: Metadata;
}

export interface SearchHit extends StoredChunk {
  /** Cosine similarity, from -1 to 1, or BM25, above 0; greater is nearer. */
  readonly score: number;
}

/** A search by words. */
export interface TermQuery {
  /** As of a `SearchQuery`: a question that is asked both ways is answered from one generation. */
  readonly generation?: number;
  /** Of the question. */
  readonly terms: Terms;
  /** How many hits at most, from 1. */
  readonly k: number;
  /** BM25: how soon more occurrences of a word stop counting, from 0. */
  readonly k1: number;
  /** BM25: how far long chunks are held back, from 0 to 1. */
  readonly b: number;
  /** Hits have a vector in one of these spaces. Default: any. */
  readonly spaces?: readonly string[];
  /** On the metadata; what `readFilter` gives. Default: every chunk. */
  readonly filter?: Condition;
}

/** Chunks of a document by their ordinals, both ends included; they may reach beyond what there is. */
export interface ChunkRange {
  readonly documentId: string;
  readonly first: number;
  readonly last: number;
}

export interface ChunkSearch {
  /** Nearest chunks that have a vector in the space, best first; of equal scores the lower chunk id first. Never fewer than k while k chunks match. */
  search(query: SearchQuery, signal?: AbortSignal): Promise<readonly SearchHit[]>;
  /**
   * Best chunks by BM25, of those that hold a word of the question, best first; of equal scores the lower chunk id first.
   * How rare a word is and how long chunks are is counted over all chunks of the pipeline that were written with terms.
   * Absent where the store cannot search by words.
   */
  readonly searchTerms?: (query: TermQuery, signal?: AbortSignal) => Promise<readonly SearchHit[]>;
  /** For each range its chunks in the order of their ordinals: none of a document that is not there, those of one version of one that is. */
  chunks(ranges: readonly ChunkRange[], signal?: AbortSignal): Promise<readonly (readonly StoredChunk[])[]>;
}
