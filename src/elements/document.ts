import type { MillraceError } from '../errors/millrace-error.js';
import { cleanJson } from './clean-json.js';
import type { Metadata } from './metadata.js';
import { storable } from './text.js';
import type { Version } from './version.js';

/** One document at one version, whole. Its text holds no NUL and no lone surrogate. */
export interface Document {
  readonly kind: 'document';
  readonly id: string;
  readonly text: string;
  readonly metadata: Metadata;
  readonly version: Version;
}

/** Word that a document is gone as of a version. */
export interface Deletion {
  readonly kind: 'deletion';
  readonly id: string;
  readonly version: Version;
}

/** Word that a document is there but cannot be read: it becomes a failed element, and its last good version stays. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly id: string;
  readonly version: Version;
  readonly error: MillraceError;
  /** What there is of it all the same, so that it can be replayed when its source no longer has it. */
  readonly content?: Pick<Document, 'text' | 'metadata'>;
}

/** What a source hands over. */
export type SourceElement = Document | Deletion | Unreadable;

export interface DocumentParts {
  readonly id: string;
  readonly text: string;
  readonly metadata?: Metadata;
  readonly version: Version;
}

/** Makes a document; characters that no store can hold become U+FFFD in its id, text and metadata. */
export function createDocument({ id, text, metadata = {}, version }: DocumentParts): Document {
  return {
    kind: 'document',
    id: storable(id),
    text: storable(text),
    metadata: cleanJson(metadata) as Metadata,
    version,
  };
}
