import type { MillraceError } from '../errors/millrace-error.js';
import type { Chunk } from '../elements/chunk.js';
import type { Document } from '../elements/document.js';
import type { Version } from '../elements/version.js';

/** What the store knows of a document. */
export interface LedgerEntry {
  readonly documentId: string;
  /** Name of the source that owns the document. */
  readonly source: string;
  /** Newest version that was stored, deleted or found unchanged; absent when every version so far failed. */
  readonly version: Version | undefined;
  readonly state: 'stored' | 'deleted' | 'absent';
  /** Hash of the content behind the chunks; absent unless `stored`. */
  readonly contentHash: string | undefined;
  /** Digest of the chain that made the chunks; absent unless `stored`. */
  readonly chainDigest: string | undefined;
  readonly chunkCount: number;
  /** Version that failed, when it is newer than `version`. */
  readonly failedVersion: Version | undefined;
}

interface WriteKey {
  readonly documentId: string;
  /** Name of the source that writes. A document of another owner is refused with `owner_mismatch`. */
  readonly source: string;
  readonly version: Version;
}

/** The vectors of a document's chunks in one space. */
export interface SpaceVectors {
  /** Name of a space that the store was prepared with. */
  readonly space: string;
  /** One a chunk, in their order; undefined keeps the vector that the store holds in this space under the same chunk id. */
  readonly vectors: readonly (Float32Array | undefined)[];
}

/** What a source said of a document. */
export type GivenContent = Pick<Document, 'text' | 'metadata'>;

/** The document is now exactly these chunks, in exactly these spaces: what it had in another one is gone. */
export interface StoreWrite extends WriteKey {
  readonly kind: 'store';
  readonly contentHash: string;
  readonly chainDigest: string;
  /** What the source gave, before any step changed it; undefined where nobody knows. Kept by stores that keep it. */
  readonly given: GivenContent | undefined;
  readonly chunks: readonly Chunk[];
  readonly spaces: readonly SpaceVectors[];
}

/** The document is what it was: only its version rises, so that an older write that comes late stays out. */
export interface TouchWrite extends WriteKey {
  readonly kind: 'touch';
  readonly contentHash: string;
  readonly chainDigest: string;
  /** As in a `StoreWrite`. */
  readonly given: GivenContent | undefined;
}

/** The document is gone: its chunks are removed and a tombstone stays in the ledger. */
export interface DeleteWrite extends WriteKey {
  readonly kind: 'delete';
}

/** This version failed: older ones stay out from now on, the last good one stays searchable. */
export interface FailWrite extends WriteKey {
  readonly kind: 'fail';
}

export type DocumentWrite = StoreWrite | TouchWrite | DeleteWrite | FailWrite;

export type WriteResult =
  /** The write took effect. `clearedFailure`: an earlier failed version is thereby superseded. */
  | { readonly kind: 'done'; readonly clearedFailure: boolean }
  /** The store knows a newer version (stored, deleted or failed), or this very one. */
  | { readonly kind: 'stale' }
  /** What the writer saw has changed since: a vector to keep, or the content to touch, is gone. Look again. */
  | { readonly kind: 'moved' }
  /** This write alone is refused; its neighbours were written. */
  | { readonly kind: 'refused'; readonly error: MillraceError };

/**
 * Writes documents, each all or nothing and each only over an older version (the fence). A version wins when it is
 * greater than the ledger's version and not below its failed version, or equal to the ledger's version with another
 * content hash or chain digest.
 */
export interface Sink {
  /** Ledger entries by document id; unknown ids are left out. */
  ledger(documentIds: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, LedgerEntry>>;
  /** Which of these chunk ids the store holds with a vector in this space. */
  heldChunks(space: string, chunkIds: readonly string[], signal?: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * One result a write, in their order; durable when the promise resolves. Each document id occurs at most once in a call.
   * @throws MillraceError `store_unavailable`, `store_conflict`: nothing of this call took effect, or it is unknown
   * whether it did; the same call may be made again.
   */
  write(writes: readonly DocumentWrite[], signal?: AbortSignal): Promise<readonly WriteResult[]>;
  /** How many documents of this source are stored, and how many of them a pass did not name. */
  countUnnamed(scope: SweepScope): Promise<{ readonly stored: number; readonly unnamed: number }>;
  /** Ids of stored documents that a pass did not name, in order, after `after`, at most `limit`. */
  listUnnamed(scope: SweepScope, after: string | undefined, limit: number): Promise<readonly string[]>;
  /** Ledger entries of this source that are not `deleted`, in the order of their ids, after `after`, at most `limit`. */
  listLedger(source: string, after: string | undefined, limit: number): Promise<readonly LedgerEntry[]>;
}

/** Stored documents of a source in an id range whose version and failed version are both below `since`. */
export interface SweepScope {
  readonly source: string;
  readonly prefix: string;
  readonly except: readonly string[];
  readonly since: Version;
}
