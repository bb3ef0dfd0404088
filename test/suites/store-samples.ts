import type {
  DeleteWrite,
  FailWrite,
  GivenContent,
  StoreWrite,
  TouchWrite,
  WriteResult,
} from '../../src/contracts/sink.js';
import type { Chunk } from '../../src/elements/chunk.js';
import type { SearchHit } from '../../src/contracts/chunk-search.js';
import type { Store } from '../../src/contracts/store.js';
import { readFilter } from '../../src/elements/filter/read-filter.js';
import { textHash } from '../../src/elements/hash.js';
import { ChunkIds } from '../../src/elements/ids.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { versionOf, type Version } from '../../src/elements/version.js';

/** Components of the vectors that the suites write. */
export const width = 4;

/** The one space of a store where a test says nothing of spaces. */
export const space = '*';

export function layoutOf(components: number) {
  return { spaces: [{ name: space, width: components }] };
}

export const layout = layoutOf(width);

/** A chunk and what a test writes beside it: a vector, or none to keep the one that is there. */
export interface ChunkWrite {
  readonly chunk: Chunk;
  readonly vector: Float32Array | undefined;
}

/** The same write with other chunks. */
export function withChunks(write: StoreWrite, chunks: readonly ChunkWrite[]): StoreWrite {
  return {
    ...write,
    chunks: chunks.map(({ chunk }) => chunk),
    spaces: [{ space, vectors: chunks.map(({ vector }) => vector) }],
  };
}

export function version(position: number): Version {
  return versionOf(0, BigInt(position));
}

/** A vector of its own for each text: equal texts have equal vectors. */
export function vectorOf(text: string): Float32Array {
  const bytes = Buffer.from(textHash(text), 'hex');
  return Float32Array.from({ length: width }, (_, i) => bytes.readInt16LE(i * 2) / 32768 + 0.001);
}

export interface ChunkParts {
  readonly metadata?: Metadata;
  readonly vector?: Float32Array;
  /** Written without its vector. */
  readonly kept?: boolean;
}

/** The chunks of a document, one a text. Each carries the document's id in its metadata, to find it again. */
export function chunksFor(
  documentId: string,
  texts: readonly string[],
  parts: ChunkParts = {},
): ChunkWrite[] {
  let start = 0;
  return texts.map((text, ordinal) => {
    const occurrence = texts.slice(0, ordinal).filter((earlier) => earlier === text).length;
    const end = start + text.length;
    const chunk = {
      id: new ChunkIds('suite').of(documentId, textHash(text), occurrence),
      documentId,
      ordinal,
      start,
      end,
      text,
      embeddedText: text,
      tokens: text.split(' ').length,
      hash: textHash(text),
      metadata: { doc: documentId, ...parts.metadata },
    };
    start = end;
    return { chunk, vector: parts.kept ? undefined : (parts.vector ?? vectorOf(text)) };
  });
}

export interface WriteParts extends ChunkParts {
  /** What the source gave. */
  readonly given?: GivenContent;
  readonly source?: string;
  readonly contentHash?: string;
  readonly chainDigest?: string;
}

export function storing(
  documentId: string,
  position: number,
  texts: readonly string[],
  parts: WriteParts = {},
): StoreWrite {
  const chunks = chunksFor(documentId, texts, parts);
  return {
    kind: 'store',
    documentId,
    source: parts.source ?? 'suite',
    version: version(position),
    contentHash: parts.contentHash ?? textHash(JSON.stringify(texts)),
    chainDigest: parts.chainDigest ?? 'chain',
    given: parts.given,
    chunks: chunks.map(({ chunk }) => chunk),
    spaces: [{ space, vectors: chunks.map(({ vector }) => vector) }],
  };
}

export function touching(
  documentId: string,
  position: number,
  texts: readonly string[],
  parts: WriteParts = {},
): TouchWrite {
  const { chunks: _, spaces: __, ...rest } = storing(documentId, position, texts, parts);
  return { ...rest, kind: 'touch' };
}

export function deleting(documentId: string, position: number, source = 'suite'): DeleteWrite {
  return { kind: 'delete', documentId, source, version: version(position) };
}

export function failing(documentId: string, position: number, source = 'suite'): FailWrite {
  return { kind: 'fail', documentId, source, version: version(position) };
}

/** What the store shows of a document: its texts in order, read through a search. */
export async function textsOf(store: Store, documentId: string): Promise<string[]> {
  return (await chunksOf(store, documentId)).map(({ text }) => text);
}

export async function chunksOf(store: Store, documentId: string): Promise<SearchHit[]> {
  const hits = await store.search.search({
    space,
    vector: vectorOf('any'),
    k: 10_000,
    filter: readFilter({ doc: documentId }),
  });
  return hits.filter((hit) => hit.documentId === documentId).sort((a, b) => a.ordinal - b.ordinal);
}

export function kinds(results: readonly WriteResult[]): string[] {
  return results.map(({ kind }) => kind);
}

export function codeOf(result: WriteResult | undefined): string | undefined {
  return result?.kind === 'refused' ? result.error.code : undefined;
}
