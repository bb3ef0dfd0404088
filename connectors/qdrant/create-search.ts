import type { ChunkSearch } from '../../src/contracts/chunk-search.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import { generationMoved, noSuchSpace } from '../../src/errors/search-faults.js';
import { chunkRanges } from './chunk-ranges.js';
import type { Place } from './places.js';
import type { QdrantPort } from './port.js';
import { searchTerms } from './search-terms.js';
import { searchChunks } from './search.js';

export interface SearchParts {
  readonly port: QdrantPort;
  readonly pipeline: string;
  /** The generation that is searched, looked up for each search. */
  locate(signal?: AbortSignal): Promise<Place | undefined>;
}

export function createQdrantSearch({ port, pipeline, locate }: SearchParts): ChunkSearch {
  /** @throws MillraceError `store_layout` when it is not there */
  function asked({ spaces }: Place, wanted: string): SpaceLayout {
    const space = spaces.find(({ name }) => name === wanted);
    if (space !== undefined) return space;
    throw noSuchSpace(
      pipeline,
      wanted,
      spaces.map(({ name }) => name),
    );
  }

  /** @throws MillraceError `generation_moved` when another one is active */
  function checkGeneration({ generation }: Place, wanted: number | undefined): void {
    if (wanted === undefined || wanted === generation) return;
    throw generationMoved(pipeline, generation, wanted);
  }

  return {
    search: async (query, signal) => {
      const place = await locate(signal);
      if (place === undefined) return [];
      checkGeneration(place, query.generation);
      return searchChunks(port, place.names, asked(place, query.space), query, signal);
    },
    searchTerms: async (query, signal) => {
      const place = await locate(signal);
      if (place === undefined) return [];
      checkGeneration(place, query.generation);
      if (!place.terms) return [];
      for (const space of query.spaces ?? []) asked(place, space);
      return searchTerms(port, place.names, query, signal);
    },
    chunks: async (ranges, signal) => {
      const place = ranges.length === 0 ? undefined : await locate(signal);
      if (place === undefined) return ranges.map(() => []);
      return chunkRanges(port, place.names, pipeline, ranges, signal);
    },
  };
}
