import { uuidNamespace, uuidOfBytes } from './uuid.js';

/** Bytes that a hash and an occurrence take at most. */
const mostOwn = 128;

/**
 * Names one chunk of a document.
 * @param hash of its embedded text, hex
 * @param occurrence how many earlier chunks of the document have this hash, from 0
 */
export type ChunkIds = (hash: string, occurrence: number) => string;

/**
 * The ids of a document's chunks: UUIDv5 of `[pipeline, document id, hash, occurrence]` as JSON. What the chunks share is
 * encoded once.
 */
export function chunkIds(pipeline: string, documentId: string): ChunkIds {
  const shared = `${JSON.stringify([pipeline, documentId]).slice(0, -1)},"`;
  const bytes = Buffer.allocUnsafe(uuidNamespace.length + shared.length * 3 + mostOwn);
  bytes.set(uuidNamespace);
  const before = uuidNamespace.length + bytes.write(shared, uuidNamespace.length);
  let named = bytes;

  return (hash, occurrence) => {
    const length = before + bytes.write(`${hash}",${occurrence}]`, before, 'latin1');
    if (named.length !== length) named = bytes.subarray(0, length);
    return uuidOfBytes(named);
  };
}
