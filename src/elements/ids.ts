import { hash as hashOnce } from 'node:crypto';

/** Namespace of Millrace's chunk ids (RFC 9562, version 5). A constant: another value would rename every chunk. */
const namespace = Buffer.from('6d3b2ad1a5f04f0f9c0e6d696c6c7261', 'hex');

/**
 * The id of a chunk: UUIDv5 of pipeline, document id, hash and occurrence.
 * @param occurrence how many earlier chunks of the same document have this hash, from 0
 */
export function chunkId(pipeline: string, documentId: string, hash: string, occurrence: number): string {
  const name = JSON.stringify([pipeline, documentId, hash, occurrence]);
  const digest = hashOnce('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'buffer');
  digest[6] = (digest[6]! & 0x0f) | 0x50;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  const hex = digest.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
