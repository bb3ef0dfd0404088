import type { SearchHit, SearchQuery } from '../../src/contracts/chunk-search.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import { vectorFault } from '../../src/elements/vector-fault.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { chunkFields, chunkOf } from './chunk-payload.js';
import { filterCondition } from './filter.js';
import { vectorName, type CollectionNames } from './names.js';
import type { QdrantPort, ScoredPoint } from './port.js';

/** More than are asked for, to see where the hits of equal score end. */
const beyond = 8;

/** Nearest chunks by cosine. What the index misses among filtered points, an exact search finds. */
export async function searchChunks(
  port: QdrantPort,
  { chunks }: CollectionNames,
  space: SpaceLayout,
  query: SearchQuery,
  signal?: AbortSignal,
): Promise<readonly SearchHit[]> {
  checkQuery(query, space.width);
  const { k, filter } = query;
  const request = {
    vector: Array.from(query.vector),
    using: vectorName(space.name),
    filter: { must: [live, ...(filter === undefined ? [] : [filterCondition(filter)])] },
    payload: [...chunkFields, 'seq'],
  };
  for (let limit = k + beyond, exact = false; ;) {
    const found = await port.query(chunks, { ...request, limit, exact }, signal);
    const newest = newestOfEach(found);
    if (newest.length < k && found.length < limit && !exact) exact = true;
    else if (found.length === limit && found.at(-1)!.score === newest[k - 1]?.score) limit *= 2;
    else if (found.length === limit && newest.length < k) limit *= 2;
    else return newest.map(hitOf).sort(byScoreAndId).slice(0, k);
  }
}

/** While a document is replaced, a chunk that stays is there twice: the later one is kept. */
export function newestOfEach<Found extends Pick<ScoredPoint, 'payload'>>(points: readonly Found[]): Found[] {
  const newest = new Map<string, Found>();
  for (const point of points) {
    const id = point.payload['chunk_id'] as string;
    const other = newest.get(id);
    if (other === undefined || (other.payload['seq'] as number) < (point.payload['seq'] as number))
      newest.set(id, point);
  }
  return points.filter((point) => newest.get(point.payload['chunk_id'] as string) === point);
}

/** Chunks that readers may see. */
export const live = { key: 'live', match: { value: true } } as const;

function byScoreAndId(a: SearchHit, b: SearchHit): number {
  return b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1);
}

function checkQuery({ vector, k }: SearchQuery, width: number): void {
  if (!Number.isInteger(k) || k < 1)
    throw new MillraceError('config_invalid', `A search asks for at least 1 hit, not ${k}.`);
  const fault = vectorFault(vector, width);
  if (fault !== undefined)
    throw new MillraceError('embedding_invalid', `The query's vector is unfit: ${fault}.`, {
      hint: 'Ask with the model that filled the store.',
    });
}

function hitOf({ payload, score }: ScoredPoint): SearchHit {
  return { ...chunkOf(payload), score };
}
