import type { StoreWrite } from '../src/contracts/sink.js';
import { textHash } from '../src/elements/hash.js';
import { ChunkIds } from '../src/elements/ids.js';
import { versionOf } from '../src/elements/version.js';

/** Components of a vector, and bytes of a text. */
export const width = 384;
const textBytes = 1024;

/**
 * Writes of documents with one chunk of 1 KB each.
 * @param first number of the first, so that ids do not repeat; @param edition another one has other vectors and metadata
 */
export function documents(pipeline: string, first: number, count: number, edition = 0): StoreWrite[] {
  return Array.from({ length: count }, (_, at) => {
    const number = first + at;
    const documentId = `document-${number}`;
    const text = `Document ${number}. `.repeat(100).slice(0, textBytes);
    const hash = textHash(text);
    const vector = Float32Array.from({ length: width }, (_, i) => Math.sin(number * 0.7 + i * 1.3 + edition));
    return {
      kind: 'store',
      given: undefined,
      documentId,
      source: 'bench',
      version: versionOf(0, BigInt(edition + 1)),
      contentHash: textHash(`${edition} ${text}`),
      chainDigest: 'bench',
      chunks: [
        {
          id: new ChunkIds(pipeline).of(documentId, hash, 0),
          documentId,
          ordinal: 0,
          start: 0,
          end: text.length,
          text,
          embeddedText: text,
          tokens: 250,
          hash,
          metadata: { number, edition, format: 'text' },
        },
      ],
      spaces: [{ space: '*', vectors: [vector] }],
    };
  });
}

export function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
