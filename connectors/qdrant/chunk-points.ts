import type { StoreWrite } from '../../src/contracts/sink.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { escapeKeys } from './metadata-keys.js';
import { metadataTimes } from './metadata-times.js';
import { pointId, vectorName } from './names.js';
import type { NamedVectors, Payload, Point } from './port.js';
import { termWeights, termsVector, wordsOf } from './term-weights.js';

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
export type KeptVectors = ReadonlyMap<string, NamedVectors>;

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
      prefix: chunk.embeddedText.slice(0, chunk.embeddedText.length - chunk.text.length),
      metadata: escapeKeys(chunk.metadata),
      times: metadataTimes(chunk.metadata),
      ...(chunk.terms !== undefined && { words: wordsOf(chunk.terms), terms: Array.from(chunk.terms.ids) }),
    };
    const dense = spaces.map(({ space, vectors: given }): [string, NamedVectors[string]] => {
      const name = vectorName(space);
      const own = given[at];
      return [name, own === undefined ? kept.get(chunk.id)![name]! : Array.from(own)];
    });
    const vector: NamedVectors = {
      ...Object.fromEntries(dense),
      ...(chunk.terms !== undefined && { [termsVector]: termWeights(chunk.terms) }),
    };
    return {
      point: { id: pointId(key.writeId, at), vector, payload },
      bytes: payloadBytes(payload) + components(vector) * componentBytes + 200,
    };
  });
}

/** How many numbers they hold. */
function components(vector: NamedVectors): number {
  return Object.values(vector).reduce(
    (sum, one) => sum + ('indices' in one ? one.indices.length * 2 : one.length),
    0,
  );
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
