import { endianness } from 'node:os';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SpaceVectors } from '../../src/contracts/sink.js';
import type { Chunk } from '../../src/elements/chunk.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { termsBytes, writeTerms } from './encode-terms.js';
import type { FieldColumn } from './config-columns.js';
import { writeHalves } from './half-floats.js';
import type { VectorType } from './vector-columns.js';
import { columnsEncoder } from './write-columns.js';

/** Chunks of one document, and the fields that their rows begin with (see `numberField`, `textFields`). */
export interface EncodedDocument {
  readonly lead: RowLead;
  readonly chunks: readonly Chunk[];
  readonly spaces: readonly SpaceVectors[];
}

/** What `encodeChunks` writes of a chunk. */
export const chunkColumns = 'id, ordinal, "start", "end", tokens, hash, text, prefix, metadata';

// https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"
const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const headerBytes = signature.length + 8;
/** Of a chunk, beside the vectors. */
const columns = 9;
const fixedBytes = 2 + columns * 4 + 4 * 4 + 16;
const swap = endianness() === 'LE';

/** Encoded fields that all rows of a document have in common. */
export interface RowLead {
  readonly fields: number;
  readonly bytes: Buffer;
}

/** One field of type int. */
export function numberField(value: number): RowLead {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeInt32BE(4, 0);
  bytes.writeInt32BE(value, 4);
  return { fields: 1, bytes };
}

/** A field of type text each. */
export function textFields(...texts: readonly string[]): RowLead {
  const parts = texts.flatMap((text) => {
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(Buffer.byteLength(text), 0);
    return [length, Buffer.from(text)];
  });
  return { fields: texts.length, bytes: Buffer.concat(parts) };
}

/** What rows hold beside `chunkColumns`. */
export interface RowShape {
  /** Names, in the order of their columns. */
  readonly spaces: readonly string[];
  readonly vectors: VectorType;
  /** The table has a column for them. */
  readonly terms: boolean;
  /** Metadata fields that have a column. */
  readonly columns: readonly FieldColumn[];
}

/**
 * Rows of chunks for binary COPY: the lead of their document, then `chunkColumns`, then a vector a space, then the terms,
 * then the metadata fields.
 * About ten times as fast as vectors printed as text.
 */
export function encodeChunks(
  documents: readonly EncodedDocument[],
  { spaces, vectors: type, terms, columns: fields }: RowShape,
): Uint8Array {
  const vectorBytes = type === 'vector' ? 4 : 2;
  const metadata = metadataEncoder();
  const fieldBytes = columnsEncoder(fields);
  const rows = documents.flatMap(({ lead, chunks, spaces: given }) => {
    const lists = spaces.map((name) => given.find(({ space }) => space === name)?.vectors);
    return chunks.map((chunk, index) => {
      const json = metadata(chunk.metadata);
      const values = fieldBytes(chunk.metadata);
      const textBytes = Buffer.byteLength(chunk.text);
      const hashBytes = Buffer.byteLength(chunk.hash);
      const prefix = prefixOf(chunk);
      const prefixBytes = Buffer.byteLength(prefix);
      let bytes =
        lead.bytes.length +
        fixedBytes +
        hashBytes +
        textBytes +
        prefixBytes +
        1 +
        json.length +
        values.length;
      for (const vectors of lists) {
        const vector = vectors?.[index];
        bytes += 4 + (vector === undefined ? 0 : 4 + vector.length * vectorBytes);
      }
      if (terms) bytes += termsBytes(chunk.terms);
      return { lead, chunk, prefix, index, lists, json, values, textBytes, hashBytes, prefixBytes, bytes };
    });
  });
  const total = rows.reduce((sum, { bytes }) => sum + bytes, headerBytes + 2);
  // Memory of its own, not of Node's pool: it may be handed to another thread.
  const out = Buffer.allocUnsafeSlow(total);
  let at = signature.copy(out);
  at = out.writeInt32BE(0, at);
  at = out.writeInt32BE(0, at);

  const int = (value: number) => {
    at = out.writeInt32BE(4, at);
    at = out.writeInt32BE(value, at);
  };
  const string = (text: string, bytes: number) => {
    at = out.writeInt32BE(bytes, at);
    at += out.write(text, at, bytes);
  };

  for (const row of rows) {
    const { lead, chunk, index, lists, json } = row;
    at = out.writeInt16BE(lead.fields + columns + lists.length + (terms ? 1 : 0) + fields.length, at);
    at += lead.bytes.copy(out, at);
    at = out.writeInt32BE(16, at);
    at += out.write(uuidHex(chunk.id), at, 16, 'hex');
    int(chunk.ordinal);
    int(chunk.start);
    int(chunk.end);
    int(chunk.tokens);
    string(chunk.hash, row.hashBytes);
    string(chunk.text, row.textBytes);
    string(row.prefix, row.prefixBytes);
    at = out.writeInt32BE(json.length + 1, at);
    out[at++] = 1;
    at += json.copy(out, at);
    for (const vectors of lists) at = writeVector(out, at, vectors?.[index], type);
    if (terms) at = writeTerms(out, at, chunk.terms);
    at += row.values.copy(out, at);
  }
  out.writeInt16BE(-1, at);
  return out;
}

/** What stands before the text when it is embedded. */
function prefixOf({ text, embeddedText }: Chunk): string {
  return embeddedText.slice(0, embeddedText.length - text.length);
}

/** pgvector's `vector_send`, `halfvec_send`: width and an unused field, 16 bits each, then the floats, all big-endian. */
function writeVector(out: Buffer, at: number, vector: Float32Array | undefined, type: VectorType): number {
  if (vector === undefined) return out.writeInt32BE(-1, at);
  at = out.writeInt32BE(4 + vector.length * (type === 'vector' ? 4 : 2), at);
  at = out.writeInt16BE(vector.length, at);
  at = out.writeInt16BE(0, at);
  if (type === 'halfvec') return writeHalves(out, at, vector);
  const end = at + vector.length * 4;
  out.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), at);
  if (swap) out.subarray(at, end).swap32();
  return end;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** @throws MillraceError `store_refused` when the id is not a UUID in lower case */
function uuidHex(id: string): string {
  if (!uuid.test(id))
    throw new MillraceError('store_refused', `Not a chunk id (UUID): ${JSON.stringify(id)}.`);
  return id.replaceAll('-', '');
}

/** Chunks of a document often share one metadata object: it is encoded once. */
function metadataEncoder(): (metadata: Metadata) => Buffer {
  let last: { readonly metadata: Metadata; readonly json: Buffer } | undefined;
  return (metadata) => {
    if (last?.metadata !== metadata) last = { metadata, json: Buffer.from(JSON.stringify(metadata)) };
    return last!.json;
  };
}
