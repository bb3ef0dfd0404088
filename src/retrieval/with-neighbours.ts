import type { ChunkSearch } from '../contracts/chunk-search.js';
import type { Hit } from './hit.js';
import { joinChunks } from './passage.js';

/** Gives each hit the passage that it is the middle of. A hit whose document changed since it was found stays alone. */
export async function withNeighbours(
  hits: readonly Hit[],
  count: number,
  search: ChunkSearch,
  signal: AbortSignal,
): Promise<readonly Hit[]> {
  const ranges = hits.map(({ documentId, ordinal }) => ({
    documentId,
    first: ordinal - count,
    last: ordinal + count,
  }));
  const around = await search.chunks(ranges, signal);
  return hits.map((hit, at) => {
    const chunks = around[at]!;
    const same = chunks.some(({ chunkId, start }) => chunkId === hit.chunkId && start === hit.start);
    return { ...hit, passage: joinChunks(same ? chunks : [hit]) };
  });
}
