import type { Document } from '../elements/document.js';
import type { Stage } from './failed-store.js';

/** A step of the chain that gives a document other text or other metadata. */
export interface DocumentTransform {
  /** What it is called in messages and in the chain's digest. */
  readonly name: string;
  /**
   * @param enter is told when the work passes from one stage to another, so that a failure can say where it happened
   * @returns the document with the same id and version
   * @throws anything: it fails this document alone, as `transform_failed` unless it is classified
   */
  apply(document: Document, signal: AbortSignal, enter: (stage: Stage) => void): Promise<Document>;
}

/**
 * Enriches many documents at once: one result a document, in their order. A result is metadata to add, or an Error that
 * fails this document alone.
 */
export type EnrichBatch = (
  documents: readonly Document[],
  signal: AbortSignal,
) => Promise<readonly (Enrichment | Error)[]>;

/** What an enrichment adds. `metadata` is merged by the step's join rule; `text`, where given, replaces the text. */
export interface Enrichment {
  readonly metadata?: Document['metadata'];
  readonly text?: string;
}
