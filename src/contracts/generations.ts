import type { Json } from '../elements/metadata.js';
import type { Chunk } from '../elements/chunk.js';
import type { Artifacts } from './artifacts.js';
import type { ChunkSearch } from './chunk-search.js';
import type { GivenContent, LedgerEntry, Sink } from './sink.js';
import type { SpaceLayout, StoreCount, StoreLayout } from './store.js';

/** One filling of a pipeline's store by one chain. Readers read, and writers write, the active one. */
export interface Generation {
  /** From 1, in the order of their making; numbers do not come again. */
  readonly number: number;
  /**
   * `filling`: made beside the active one; `retired`: was active before; `leaving`: a drop was begun. What is filling or
   * retired can become active, once it is behind in nothing.
   */
  readonly state: 'active' | 'filling' | 'retired' | 'leaving';
  readonly spaces: readonly SpaceLayout[];
  readonly count: StoreCount;
  /** Documents of the active generation whose last change this one has yet to take over. */
  readonly behind: number;
  /** When it got its state, in milliseconds since 1970. */
  readonly since: number;
}

/** A document that a generation is behind in, and which change of it: a later one has another mark. */
export interface BehindDocument {
  readonly documentId: string;
  readonly mark: string;
  /** How many the active generation holds of it. */
  readonly chunks: number;
}

/** A document as the active generation holds it. */
export interface StoredDocument {
  readonly entry: LedgerEntry;
  /** In their order. `embeddedText` does not fit `hash` where the store was filled before it kept what stood before the text. */
  readonly chunks: readonly Chunk[];
  /** What its source gave, where each generation keeps that for itself. */
  readonly given?: GivenContent | undefined;
}

/** One generation by itself, whatever its state. */
export interface GenerationView {
  /** Writes are refused with `generation_moved` while the generation is the active one, or leaving. */
  readonly sink: Sink;
  readonly search: ChunkSearch;
  readonly artifacts: Artifacts;
  tune(signal?: AbortSignal): Promise<void>;
  /** A vector of the first chunk of each of these documents, or of so many documents that are spread over all. */
  vectors(of: number | readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, SampleVector>>;
}

export interface SampleVector {
  readonly space: string;
  /** Of the length that the store keeps, which may be 1. */
  readonly vector: Float32Array;
}

/**
 * Generations beside each other. From `start` on each write to the active generation notes, before it is acknowledged, that
 * the others are behind in its document; whoever fills them takes such documents over and settles the note.
 */
export interface Generations {
  /** Number of the active one; undefined before the store was prepared. */
  active(signal?: AbortSignal): Promise<number | undefined>;
  /** Those that are not active, without counting anything. */
  others(signal?: AbortSignal): Promise<readonly Pick<Generation, 'number' | 'state' | 'since'>[]>;
  /** All, in the order of their numbers. */
  list(signal?: AbortSignal): Promise<readonly Generation[]>;
  view(number: number): GenerationView;
  /** What a generation of this layout would take beside the active one. Absent where the store cannot tell. */
  readonly room?: (layout: StoreLayout, signal?: AbortSignal) => Promise<Room>;
  /** Makes a generation, empty and behind in every document, with its artifact `chain`. @returns its number */
  start(layout: StoreLayout, chain: Json): Promise<number>;
  /** Goes on where `start` was cut off; does nothing else. Called before a filling. */
  enlist(number: number, signal?: AbortSignal): Promise<void>;
  /**
   * Documents that the generation is behind in, after an id, in an order of the store. Others do not get them before the
   * lease is over, or a later change came.
   */
  claim(number: number, options: ClaimOptions, signal?: AbortSignal): Promise<readonly BehindDocument[]>;
  /** How many documents it is behind in, and how many of them somebody has claimed. */
  behind(
    number: number,
    signal?: AbortSignal,
  ): Promise<{ readonly documents: number; readonly claimed: number }>;
  /** Of the active generation; unknown ones are left out. */
  read(documentIds: readonly string[], signal?: AbortSignal): Promise<readonly StoredDocument[]>;
  /** The claimed changes are taken over; what was changed since stays behind. */
  settle(number: number, documents: readonly BehindDocument[], signal?: AbortSignal): Promise<void>;
  /**
   * Notes every document in which the two ledgers differ. @param by `versions` for a generation whose chunks or enriched
   * texts are others; default: `contents` too. @returns how many
   */
  reconcile(number: number, signal?: AbortSignal, by?: 'contents' | 'versions'): Promise<number>;
  /** Writers wait from when this resolves, at most `ms`, so that a filling can catch up with them. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  resume(): Promise<void>;
  /**
   * Makes a generation the active one, in one instant for readers and writers, while these are paused; the one before is
   * retired. @returns whether it did: not when the pause is over, something is behind, or the numbers of documents differ
   */
  switchTo(number: number, signal?: AbortSignal): Promise<boolean>;
  /** Removes all that a generation holds; may be called again where it was cut off. @throws MillraceError `generation_moved` for the active one */
  drop(number: number, signal?: AbortSignal): Promise<void>;
}

/** Bytes on a disk. */
export interface Room {
  /** Needed, texts and indexes included, for as many chunks as the active generation has. */
  readonly bytes: number;
  /** Left on the disk of the store; undefined where that is elsewhere. */
  readonly freeBytes: number | undefined;
}

export interface ClaimOptions {
  readonly after: string;
  readonly limit: number;
  readonly leaseMs: number;
}
