import type { Document } from '../../elements/document.js';
import type { Metadata } from '../../elements/metadata.js';
import type { Passage } from './passage.js';

/** Metadata of the chunk that a passage becomes: its own, or the document's with its headings. */
export function passageMetadata(document: Document, { metadata, headings = [] }: Passage): Metadata {
  if (metadata !== undefined) return metadata;
  return headings.length === 0 ? document.metadata : { ...document.metadata, headings };
}
