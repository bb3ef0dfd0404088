import type { Chunk } from '../elements/chunk.js';
import type { Document } from '../elements/document.js';
import { textHash } from '../elements/hash.js';
import { chunkId } from '../elements/ids.js';
import type { TokenPassage } from './passage.js';

/** Names the passages of a document: ids, hashes, ordinals and metadata. */
export function makeChunks(pipeline: string, document: Document, passages: readonly TokenPassage[]): Chunk[] {
  const seen = new Map<string, number>();
  return passages.map(({ start, end, tokens, headings }, ordinal) => {
    const text = document.text.slice(start, end);
    const hash = textHash(text);
    const occurrence = seen.get(hash) ?? 0;
    seen.set(hash, occurrence + 1);
    return {
      id: chunkId(pipeline, document.id, hash, occurrence),
      documentId: document.id,
      ordinal,
      start,
      end,
      text,
      embeddedText: text,
      tokens,
      hash,
      metadata: headings.length === 0 ? document.metadata : { ...document.metadata, headings },
    };
  });
}
