import { filterTime } from '../../src/elements/filter/time.js';
import { isJsonObject } from '../../src/elements/json-fields.js';
import type { Json, Metadata } from '../../src/elements/metadata.js';
import { numericBytes } from './numeric-bytes.js';
import type { ColumnType, FieldColumn } from './config-columns.js';

/** A value as Postgres's binary COPY takes it; null where there is none; undefined where the field holds something else. */
export type ColumnBytes = Buffer | null | undefined;

/** What a chunk has for a column. */
export function columnBytes({ type, path }: FieldColumn, metadata: Metadata): ColumnBytes {
  const value = path.reduce<Json | undefined>(
    (at, name) => (isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    metadata,
  );
  return value === undefined || value === null ? null : bytesOf(type, value);
}

/** Of a text in a column. */
export const mostTextBytes = 2_000;
const dimension = 12;
const textOid = 25;
/** Postgres counts microseconds from 2000 on. */
const epoch = BigInt(Date.UTC(2000, 0, 1)) * 1000n;

function bytesOf(type: ColumnType, value: Json): Buffer | undefined {
  switch (type) {
    case 'text':
      return typeof value === 'string' ? textBytes(value) : undefined;
    case 'text[]':
      return textsBytes(typeof value === 'string' ? [value] : value);
    case 'numeric':
      return typeof value === 'number' || typeof value === 'string' ? numericBytes(String(value)) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? Buffer.of(value ? 1 : 0) : undefined;
    case 'timestamptz':
      return typeof value === 'string' ? timeBytes(value) : undefined;
    default:
      return type satisfies never;
  }
}

/** An entry of an index holds no more. */
function textBytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text);
  return bytes.length <= mostTextBytes ? bytes : undefined;
}

/** https://www.postgresql.org/docs/current/sql-copy.html; of an array as `array_send` writes it. */
function textsBytes(value: Json): Buffer | undefined {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) return undefined;
  const texts = value.map(textBytes);
  if (!texts.every((text) => text !== undefined)) return undefined;
  const head = Buffer.alloc(texts.length === 0 ? dimension : dimension + 8);
  head.writeInt32BE(texts.length === 0 ? 0 : 1, 0);
  head.writeInt32BE(textOid, 8);
  if (texts.length > 0) {
    head.writeInt32BE(texts.length, dimension);
    head.writeInt32BE(1, dimension + 4);
  }
  return Buffer.concat([head, ...texts.flatMap((text) => [lengthOf(text), text])]);
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return length;
}

function timeBytes(text: string): Buffer | undefined {
  const time = filterTime(text);
  if (time === undefined) return undefined;
  const seconds = BigInt(Date.parse(`${time.slice(0, 19)}Z`)) * 1000n;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(seconds + BigInt(time.slice(20, 26)) - epoch);
  return bytes;
}
