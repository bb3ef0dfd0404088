import { hash as hashOnce } from 'node:crypto';

/** Namespace of Millrace's chunk ids (RFC 9562, version 5). A constant: another value would rename every chunk. */
const namespace = Buffer.from('6d3b2ad1a5f04f0f9c0e6d696c6c7261', 'hex');

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
  const bytes = Buffer.allocUnsafe(namespace.length + shared.length * 3 + mostOwn);
  namespace.copy(bytes);
  const before = namespace.length + bytes.write(shared, namespace.length);
  let named = bytes;

  return (hash, occurrence) => {
    const length = before + bytes.write(`${hash}",${occurrence}]`, before, 'latin1');
    if (named.length !== length) named = bytes.subarray(0, length);
    const hex = hashOnce('sha1', named, 'hex');
    const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
    // A join and no template: one string instead of the tree of parts that a store would hold on to.
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `5${hex.slice(13, 16)}`,
      variant + hex.slice(17, 20),
      hex.slice(20, 32),
    ].join('-');
  };
}
