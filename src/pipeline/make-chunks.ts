import type { Chunk } from '../elements/chunk.js';
import type { Document } from '../elements/document.js';
import { textHash } from '../elements/hash.js';
import type { ChunkIds } from '../elements/ids.js';
import type { Passage } from '../transforms/chunk/passage.js';

const none: readonly string[] = [];

/** Names the passages of a document: ids, hashes, ordinals and metadata. */
export function makeChunks(ids: ChunkIds, document: Document, passages: readonly Passage[]): Chunk[] {
  const seen = passages.length > 1 ? new Map<string, number>() : undefined;
  let under = none;
  let metadata = document.metadata;
  return passages.map(({ start, end, tokens, headings = none, prefix = '', metadata: own }, ordinal) => {
    // Neighbours under the same headings share one object.
    if (headings !== under) {
      under = headings;
      metadata = headings.length === 0 ? document.metadata : { ...document.metadata, headings };
    }
    const text = document.text.slice(start, end);
    const embeddedText = prefix + text;
    const hash = textHash(embeddedText);
    const occurrence = seen?.get(hash) ?? 0;
    seen?.set(hash, occurrence + 1);
    return {
      id: ids.of(document.id, hash, occurrence),
      documentId: document.id,
      ordinal,
      start,
      end,
      text,
      embeddedText,
      tokens,
      hash,
      metadata: own ?? metadata,
    };
  });
}
