import type { StoredChunk } from '../../src/contracts/chunk-search.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { unescapeKeys } from './metadata-keys.js';
import type { Payload } from './port.js';

/** What a chunk is read from. */
export const chunkFields = [
  'chunk_id',
  'document_id',
  'ordinal',
  'start',
  'end',
  'text',
  'metadata',
] as const;

export function chunkOf(payload: Payload): StoredChunk {
  return {
    chunkId: payload['chunk_id'] as string,
    documentId: payload['document_id'] as string,
    ordinal: payload['ordinal'] as number,
    start: payload['start'] as number,
    end: payload['end'] as number,
    text: payload['text'] as string,
    metadata: unescapeKeys(payload['metadata'] as Metadata),
  };
}
