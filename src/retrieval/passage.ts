import type { StoredChunk } from '../contracts/chunk-search.js';

/** Chunks of a document that follow each other, read as one text. */
export interface Passage {
  readonly documentId: string;
  /** Offsets into the document, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /**
   * The text of the document from `start` to `end`, so that each chunk is `text.slice(chunk.start - start, chunk.end - start)`.
   * Between chunks a document is blank, and which blanks it had is not stored: one is a space here, more are line breaks.
   */
  readonly text: string;
  /** In the order of the document. */
  readonly chunks: readonly StoredChunk[];
}

/** @param chunks of one document in its order, at least one; they may overlap */
export function joinChunks(chunks: readonly StoredChunk[]): Passage {
  const [{ documentId, start }] = chunks as readonly [StoredChunk];
  let end = start;
  let text = '';
  for (const chunk of chunks) {
    text += blank(chunk.start - end) + chunk.text.slice(Math.max(0, end - chunk.start));
    end = Math.max(end, chunk.end);
  }
  return { documentId, start, end, text, chunks };
}

function blank(length: number): string {
  return length === 1 ? ' ' : '\n'.repeat(Math.max(0, length));
}
