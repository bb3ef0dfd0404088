import type { WireError } from '../errors/wire.js';
import type { Metadata } from './metadata.js';
import type { Version } from './version.js';

/** The part of the work that failed. */
export type Stage =
  'source' | 'enrich' | 'preprocess' | 'infer' | 'postprocess' | 'chunk' | 'embed' | 'store';

/** The element that failed, whole, so that it can go through the chain again; absent text means it could not be read. */
export interface FailedElement {
  readonly kind: 'document' | 'deletion' | 'unreadable';
  readonly text?: string;
  readonly metadata?: Metadata;
}

/** One failed element. It holds the user's text. */
export interface FailedRecord {
  readonly pipeline: string;
  readonly source: string;
  readonly documentId: string;
  readonly version: Version;
  readonly element: FailedElement;
  readonly stage: Stage;
  readonly error: WireError;
  /** Tries that were made in vain, over all deliveries. */
  readonly attempts: number;
  /** ISO 8601, UTC. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** Digest of the identity of the embedding model, of several joined by `+`, once the route was known. */
  readonly model?: string;
  /** Names of the models of its route, joined by `+`, once it was known. */
  readonly route?: string;
}

export interface FailedFilter {
  readonly code?: string;
  readonly stage?: Stage;
  /** Ids that begin with this. */
  readonly idPrefix?: string;
}

export interface FailedKey {
  readonly documentId: string;
  readonly version: Version;
}
