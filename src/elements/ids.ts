import { uuidOf } from './uuid.js';

/**
 * The id of a chunk: UUIDv5 of pipeline, document id, hash and occurrence.
 * @param occurrence how many earlier chunks of the same document have this hash, from 0
 */
export function chunkId(pipeline: string, documentId: string, hash: string, occurrence: number): string {
  return uuidOf(JSON.stringify([pipeline, documentId, hash, occurrence]));
}
