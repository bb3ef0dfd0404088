import type { Version } from '../elements/version.js';
import type { GivenContent } from './sink.js';

/** What sources gave, kept beside the ledger: another chunker or enrichment is filled from it. */
export interface KeptTexts {
  /** Whether writers keep what they are given: as long as the store says, or while a generation is filled from it. */
  keeping(signal?: AbortSignal): Promise<'no' | 'meanwhile' | 'always'>;
  /** From when this resolves every write keeps what it was given, until no generation is left beside the active one. */
  begin(signal?: AbortSignal): Promise<void>;
  /** What is kept of these documents; others are left out. */
  read(documentIds: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, GivenContent>>;
  /** Stored documents of which nothing is kept: how many, and the first of them. */
  missing(signal?: AbortSignal): Promise<{ readonly documents: number; readonly first: string | undefined }>;
  /**
   * Keeps what a source holds now of stored documents of which nothing is kept. To be read from the source after `begin`:
   * whatever was written since then has brought its own. @returns how many were taken
   */
  offer(source: string, documents: readonly OfferedText[], signal?: AbortSignal): Promise<number>;
}

export interface OfferedText extends GivenContent {
  readonly documentId: string;
  /** Where the source has versions of its own: taken only when the store is at this one. */
  readonly version: Version | undefined;
}
