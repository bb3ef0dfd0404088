import type { Metadata } from './metadata.js';
import type { Terms } from './terms.js';

/** A slice of a document, as it is embedded and stored. */
export interface Chunk {
  /** UUIDv5 of pipeline, document id, hash and occurrence: a paragraph put on top of a document changes no other id. */
  readonly id: string;
  readonly documentId: string;
  /** Place in the document, from 0. */
  readonly ordinal: number;
  /** `text === document.text.slice(start, end)`, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** What the model reads: the text with whatever the chain puts before it. */
  readonly embeddedText: string;
  /** Tokens of the embedded text, special tokens excluded. */
  readonly tokens: number;
  /** SHA-256 of the embedded text, lower-case hex, 32 characters (128 bits). */
  readonly hash: string;
  /** The document's metadata and what the chunker adds (`headings`). */
  readonly metadata: Metadata;
  /** Of the embedded text; absent where the pipeline keeps none. */
  readonly terms?: Terms;
}
