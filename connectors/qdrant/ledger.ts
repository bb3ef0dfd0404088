import type { LedgerEntry } from '../../src/contracts/sink.js';
import type { Json } from '../../src/elements/metadata.js';
import { parseVersion, type Version } from '../../src/elements/version.js';
import type { Payload, PointFilter, PointRecord } from './port.js';
import type { Revision } from './revision.js';

/** A document in the ledger, with what the protocol needs beside the entry. */
export interface LedgerRecord extends Revision {
  /** Its point, also the `doc` of its chunks. */
  readonly id: string;
  readonly entry: LedgerEntry;
  /** The write whose chunks are the document's; undefined before the first. */
  readonly writeId: string | undefined;
  /** How many writes were committed. */
  readonly seq: number;
  /** Those chunks, and no others, are what readers see. */
  readonly settled: boolean;
  /** Undefined where nothing of the document was ever kept. */
  readonly text: TextRef | undefined;
}

/** Where what a document's source gave is kept: among the texts, as one write put it there. */
export interface TextRef {
  /** The epoch since which texts were kept then; it counts as long as they are. */
  readonly since: number;
  /** The write that brought it, also its point; undefined where it is not kept any more. */
  readonly write: string | undefined;
  readonly hash: string | undefined;
}

/** The point of what is kept of a document. @param since the epoch since which texts are kept */
export function textPoint(
  { text }: Pick<LedgerRecord, 'text'>,
  since: number | undefined,
): string | undefined {
  return text !== undefined && text.since === since ? text.write : undefined;
}

export function ledgerPayload({
  entry,
  writeId,
  seq,
  settled,
  text,
}: Omit<LedgerRecord, 'id' | keyof Revision>): Payload {
  return {
    document_id: entry.documentId,
    source: entry.source,
    state: entry.state,
    version: entry.version ?? null,
    v: entry.version === undefined ? null : limbs(entry.version),
    failed_version: entry.failedVersion ?? null,
    f: entry.failedVersion === undefined ? null : limbs(entry.failedVersion),
    content_hash: entry.contentHash ?? null,
    chain_digest: entry.chainDigest ?? null,
    chunk_count: entry.chunkCount,
    write: writeId ?? null,
    seq,
    settled,
    ...(text !== undefined && {
      text_since: text.since,
      text_write: text.write ?? null,
      text_hash: text.hash ?? null,
    }),
  };
}

export function ledgerRecord({ id, payload }: PointRecord): LedgerRecord {
  const text = (field: string) => (payload[field] ?? undefined) as string | undefined;
  const version = (field: string): Version | undefined => {
    const found = text(field);
    return found === undefined ? undefined : parseVersion(found);
  };
  return {
    id,
    entry: {
      documentId: payload['document_id'] as string,
      source: payload['source'] as string,
      version: version('version'),
      state: payload['state'] as LedgerEntry['state'],
      contentHash: text('content_hash'),
      chainDigest: text('chain_digest'),
      chunkCount: payload['chunk_count'] as number,
      failedVersion: version('failed_version'),
    },
    writeId: text('write'),
    seq: payload['seq'] as number,
    settled: payload['settled'] as boolean,
    text: textRef(payload),
    rev: payload['rev'] as string,
    past: payload['past'] as string[],
  };
}

/** What a record says of the kept text. */
export const textFields = ['text_since', 'text_write', 'text_hash'] as const;

export function textRef(payload: Payload): TextRef | undefined {
  const since = (payload['text_since'] ?? undefined) as number | undefined;
  if (since === undefined) return undefined;
  const text = (field: string) => (payload[field] ?? undefined) as string | undefined;
  return { since, write: text('text_write'), hash: text('text_hash') };
}

export const ledgerFields = [
  'document_id',
  'source',
  'state',
  'version',
  'failed_version',
  'content_hash',
  'chain_digest',
  'chunk_count',
  'write',
  'seq',
  'settled',
  ...textFields,
  'rev',
  'past',
] as const;

const limbNames = ['a', 'b', 'c', 'd', 'e'] as const;

/** A version as numbers of 32 bits, from the greatest on: Qdrant compares numbers only, and those as doubles. */
function limbs(version: Version): { readonly [name: string]: Json } {
  const digits = version.replaceAll('.', '');
  return Object.fromEntries(
    limbNames.map((name, at) => [name, Number.parseInt(digits.slice(at * 8, at * 8 + 8), 16)]),
  );
}

/** Records whose version in `field` is below this one. */
export function below(field: 'v' | 'f', version: Version): PointFilter {
  const wanted = limbs(version);
  const number = (name: string) => wanted[name] as number;
  return {
    should: limbNames.map((name, at) => ({
      must: [
        ...limbNames.slice(0, at).map((higher) => {
          const value = number(higher);
          return { key: `${field}.${higher}`, range: { gte: value, lte: value } };
        }),
        { key: `${field}.${name}`, range: { lt: number(name) } },
      ],
    })),
  };
}
