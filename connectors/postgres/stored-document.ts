import type { StoredDocument } from '../../src/contracts/generations.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { SqlRow } from './connection.js';
import { ledgerEntry } from './ledger.js';

interface ChunkRow {
  readonly id: string;
  readonly ordinal: number;
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly hash: string;
  readonly text: string;
  /** Null where it was not kept. */
  readonly prefix: string | null;
  readonly metadata: Metadata;
}

/** A row of the ledger with its chunks as JSON. */
export function storedDocument(row: SqlRow): StoredDocument {
  const entry = ledgerEntry(row);
  return {
    entry,
    chunks: (row['chunks'] as readonly ChunkRow[]).map(({ prefix, ...chunk }) => ({
      ...chunk,
      documentId: entry.documentId,
      embeddedText: (prefix ?? '') + chunk.text,
    })),
  };
}
