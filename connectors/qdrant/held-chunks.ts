import { vectorName, type CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { live } from './search.js';

const perRequest = 1000;

/** @see Sink.heldChunks */
export async function heldChunks(
  port: QdrantPort,
  { chunks }: CollectionNames,
  space: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  for (let from = 0; from < ids.length; from += perRequest) {
    const any = ids.slice(from, from + perRequest);
    const filter = { must: [{ key: 'chunk_id', match: { any } }, live, { has_vector: vectorName(space) }] };
    // While a document is replaced, both of its versions may be seen: twice the chunks.
    for (let offset: string | undefined; ;) {
      const request = {
        filter,
        limit: perRequest,
        payload: ['chunk_id'],
        ...(offset !== undefined && { offset }),
      };
      const { points, next } = await port.scroll(chunks, request, signal);
      for (const { payload } of points) held.add(payload['chunk_id'] as string);
      if (next === undefined) break;
      offset = next;
    }
  }
  return held;
}
