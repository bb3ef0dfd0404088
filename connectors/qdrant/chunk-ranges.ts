import type { ChunkRange, StoredChunk } from '../../src/contracts/chunk-search.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { chunkFields, chunkOf } from './chunk-payload.js';
import { documentKey, type CollectionNames } from './names.js';
import type { PointFilter, QdrantPort } from './port.js';

const perScroll = 1000;
const mostLooks = 10;

interface Wanted {
  readonly doc: string;
  readonly writeId: string;
  readonly first: number;
  readonly last: number;
}

/**
 * @see ChunkSearch.chunks. The ledger says which write's chunks are a document's, so two versions never mix; one that is
 * replaced between the look and the reading is looked up again.
 */
export async function chunkRanges(
  port: QdrantPort,
  names: CollectionNames,
  pipeline: string,
  ranges: readonly ChunkRange[],
  signal?: AbortSignal,
): Promise<readonly (readonly StoredChunk[])[]> {
  const results = new Map<number, readonly StoredChunk[]>();
  for (let looks = 0; looks < mostLooks && results.size < ranges.length; looks++) {
    const open = [...ranges.entries()].filter(([at]) => !results.has(at));
    const ids = new Set(open.map(([, { documentId }]) => documentKey(pipeline, documentId)));
    const found = await port.retrieve(names.ledger, [...ids], { payload: ['write', 'chunk_count'] }, signal);
    const ledger = new Map(found.map(({ id, payload }) => [id, payload]));
    const wanted = open.flatMap(([at, { documentId, first, last }]): [number, Wanted][] => {
      const doc = documentKey(pipeline, documentId);
      const payload = ledger.get(doc);
      const end = Math.min(last, ((payload?.['chunk_count'] as number | undefined) ?? 0) - 1);
      if (end < Math.max(first, 0)) results.set(at, []);
      else return [[at, { doc, writeId: payload!['write'] as string, first: Math.max(first, 0), last: end }]];
      return [];
    });
    const chunks = await readChunks(
      port,
      names,
      wanted.map(([, one]) => one),
      signal,
    );
    for (const [at, { writeId, first, last }] of wanted) {
      const own = (chunks.get(writeId) ?? []).filter(({ ordinal }) => ordinal >= first && ordinal <= last);
      if (own.length === last - first + 1) results.set(at, own);
    }
  }
  if (results.size === ranges.length) return ranges.map((_, at) => results.get(at)!);
  throw new MillraceError('store_conflict', `A document was replaced ${mostLooks} times while it was read.`);
}

/** By their write, in the order of their ordinals. */
async function readChunks(
  port: QdrantPort,
  names: CollectionNames,
  wanted: readonly Wanted[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, readonly StoredChunk[]>> {
  const chunks = new Map<string, StoredChunk[]>();
  if (wanted.length === 0) return chunks;
  const filter: PointFilter = {
    must: [{ key: 'doc', match: { any: [...new Set(wanted.map(({ doc }) => doc))] } }],
    should: wanted.map(({ writeId, first, last }) => ({
      must: [
        { key: 'write', match: { value: writeId } },
        { key: 'ordinal', range: { gte: first, lte: last } },
      ],
    })),
  };
  for (let offset: string | undefined; ;) {
    const request = {
      filter,
      limit: perScroll,
      payload: ['write', ...chunkFields],
      ...(offset !== undefined && { offset }),
    };
    const { points, next } = await port.scroll(names.chunks, request, signal);
    for (const { payload } of points) {
      const write = payload['write'] as string;
      chunks.set(write, [...(chunks.get(write) ?? []), chunkOf(payload)]);
    }
    if (next === undefined) break;
    offset = next;
  }
  for (const own of chunks.values()) own.sort((a, b) => a.ordinal - b.ordinal);
  return chunks;
}
