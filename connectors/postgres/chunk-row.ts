import type { StoredChunk } from '../../src/contracts/chunk-search.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { SqlRow } from './connection.js';

/** Columns of the table of chunks that make a `StoredChunk`. */
export const chunkColumns = 'id, document_id, ordinal, "start", "end", text, metadata';

export function chunkOf(row: SqlRow): StoredChunk {
  return {
    chunkId: row['id'] as string,
    documentId: row['document_id'] as string,
    ordinal: row['ordinal'] as number,
    start: row['start'] as number,
    end: row['end'] as number,
    text: row['text'] as string,
    metadata: row['metadata'] as Metadata,
  };
}
