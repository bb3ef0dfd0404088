import type { StoreWrite } from '../../src/contracts/sink.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { escapeKeys } from './metadata-keys.js';
import { metadataTimes } from './metadata-times.js';
import { pointId, vectorName } from './names.js';
import type { Payload, Point } from './port.js';

/** A point and the most bytes that it takes in a request. */
export interface SizedPoint {
  readonly point: Point;
  readonly bytes: number;
}

/** Where the points of a write belong. */
export interface PointKey {
  /** The document's point in the ledger. */
  readonly doc: string;
  readonly writeId: string;
  readonly seq: number;
}

/** Of each chunk, by its id, the vectors that the store keeps, by the name of the vector. */
export type KeptVectors = ReadonlyMap<string, { readonly [name: string]: readonly number[] }>;

/** The longest form of a 32-bit float as JSON, with its comma: `-1.1754943508222875e-38,`. */
const componentBytes = 24;

/** The chunks of a write as points that nobody sees yet. */
export function chunkPoints({ chunks, spaces }: StoreWrite, key: PointKey, kept: KeptVectors): SizedPoint[] {
  return chunks.map((chunk, at) => {
    const payload: Payload = {
      doc: key.doc,
      document_id: chunk.documentId,
      chunk_id: chunk.id,
      write: key.writeId,
      seq: key.seq,
      live: false,
      ordinal: chunk.ordinal,
      start: chunk.start,
      end: chunk.end,
      tokens: chunk.tokens,
      hash: chunk.hash,
      text: chunk.text,
      metadata: escapeKeys(chunk.metadata),
      times: metadataTimes(chunk.metadata),
    };
    const vectors = spaces.map(({ space, vectors: given }): [string, readonly number[]] => {
      const name = vectorName(space);
      const own = given[at];
      return [name, own === undefined ? kept.get(chunk.id)![name]! : Array.from(own)];
    });
    const components = vectors.reduce((sum, [, vector]) => sum + vector.length, 0);
    return {
      point: { id: pointId(key.writeId, at), vector: Object.fromEntries(vectors), payload },
      bytes: payloadBytes(payload) + components * componentBytes + 200,
    };
  });
}

function payloadBytes(payload: Payload): number {
  return Buffer.byteLength(JSON.stringify(payload));
}

/** Whether JSON of it would hold what Qdrant's parser refuses: half of a surrogate pair. */
export function isWellFormed(text: string, metadata: Metadata): boolean {
  if (!text.isWellFormed()) return false;
  const json = JSON.stringify(metadata);
  // JSON escapes lone surrogates, and nothing else, as \ud…; an escaped backslash before it is plain text.
  return !/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(json);
}
