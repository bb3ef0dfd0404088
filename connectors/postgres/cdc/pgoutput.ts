import { readRelation, type Relation } from './relation.js';
import type { Lsn } from './lsn.js';
import { Reader } from './reader.js';
import { readTuple, type Tuple } from './tuple.js';

/** One message of the output plugin `pgoutput`, protocol version 1. */
export type StreamEvent =
  | BeginEvent
  | { readonly kind: 'relation'; readonly relation: Relation }
  | RowEvent
  | { readonly kind: 'truncate'; readonly relations: readonly Relation[] }
  /** `endLsn` is where the next transaction may begin: what is confirmed once this one is durable. */
  | { readonly kind: 'commit'; readonly endLsn: Lsn };

export interface BeginEvent {
  readonly kind: 'begin';
  readonly commitLsn: Lsn;
  /** ms since 1970. */
  readonly committedAt: number;
  readonly xid: number;
}

export interface RowEvent {
  readonly kind: 'row';
  readonly op: 'insert' | 'update' | 'delete';
  readonly relation: Relation;
  /** The row as it was: all of it with full replica identity, else the key, where that changed or the row is deleted. */
  readonly old: Tuple | undefined;
  /** The row as it is now; undefined when it was deleted. */
  readonly row: Tuple | undefined;
}

export interface Decoding {
  /** Relations by their ids, as the last message about each said. */
  readonly relations: Map<number, Relation>;
  /** Which columns are read; undefined: rows of this relation are of no interest. */
  wants(relation: Relation): readonly boolean[] | undefined;
  /** A value longer than this is not read. */
  readonly maxValueBytes: number;
}

/** Seconds from 1970 to 2000, where Postgres counts from. */
const epochMs = 946_684_800_000;

/**
 * Reads the message from `from` up to `to`. https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
 * @returns undefined for what tells nothing about documents
 * @throws Error for bytes that are no such message
 */
export function decodeMessage(
  bytes: Buffer,
  from: number,
  to: number,
  decoding: Decoding,
): StreamEvent | undefined {
  const reader = new Reader(bytes, from, to);
  const event = readMessage(reader, decoding);
  // What follows it in the chunk would be taken for a part of it.
  if (reader.at > to) throw new Error(`A message of ${to - from} bytes names parts that are longer.`);
  return event;
}

function readMessage(reader: Reader, decoding: Decoding): StreamEvent | undefined {
  const type = String.fromCharCode(reader.byte());
  switch (type) {
    case 'B': {
      const commitLsn = reader.uint64();
      const committedAt = epochMs + Number(reader.int64() / 1_000n);
      return { kind: 'begin', commitLsn, committedAt, xid: reader.uint32() };
    }
    case 'C':
      reader.skip(1 + 8);
      return { kind: 'commit', endLsn: reader.uint64() };
    case 'R': {
      const relation = readRelation(reader, decoding.wants);
      decoding.relations.set(relation.id, relation);
      return { kind: 'relation', relation };
    }
    case 'I':
    case 'U':
    case 'D':
      return readRow(type, reader, decoding);
    case 'T':
      return readTruncate(reader, decoding);
    default:
      // Types by name, origins, messages.
      return undefined;
  }
}

function readRow(type: 'I' | 'U' | 'D', reader: Reader, decoding: Decoding): RowEvent | undefined {
  const relation = relationOf(reader.uint32(), decoding);
  if (relation.wanted === undefined) return undefined;
  let old: Tuple | undefined;
  let row: Tuple | undefined;
  while (!reader.atEnd) {
    const part = String.fromCharCode(reader.byte());
    const tuple = readTuple(reader, relation.wanted, decoding.maxValueBytes);
    if (part === 'N') row = tuple;
    else old = tuple;
  }
  const op = type === 'I' ? 'insert' : type === 'U' ? 'update' : 'delete';
  return { kind: 'row', op, relation, old, row };
}

function readTruncate(reader: Reader, decoding: Decoding): StreamEvent | undefined {
  const count = reader.uint32();
  reader.skip(1);
  const relations: Relation[] = [];
  for (let at = 0; at < count; at += 1) {
    const relation = relationOf(reader.uint32(), decoding);
    if (relation.wanted !== undefined) relations.push(relation);
  }
  return relations.length === 0 ? undefined : { kind: 'truncate', relations };
}

/** The server describes each relation before the first row of it. */
function relationOf(id: number, { relations }: Decoding): Relation {
  const relation = relations.get(id);
  if (relation === undefined) throw new Error(`The relation ${id} was never described.`);
  return relation;
}
