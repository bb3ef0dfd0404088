import { generationMoved, noSuchSpace } from '../../src/errors/search-faults.js';
import type { ChunkSearch } from '../../src/contracts/chunk-search.js';
import type { SqlConnection } from './connection.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import type { TableNames } from './names.js';
import { readRanges } from './read-ranges.js';
import { searchChunks } from './search.js';
import { searchTerms } from './search-terms.js';
import { namedSpace } from './sql-sink.js';

export interface SqlSearchParts {
  readonly connection: SqlConnection;
  readonly names: TableNames;
  readonly pipeline: string;
  /** The generation that is searched, looked up for each search. */
  locate(signal?: AbortSignal): Promise<FoundLayout | undefined>;
}

export function createSqlSearch({ connection, names, pipeline, locate }: SqlSearchParts): ChunkSearch {
  /** @throws MillraceError `store_layout` when it is not there */
  function asked(spaces: readonly FoundSpace[], name: string): FoundSpace {
    const space = namedSpace(spaces, name);
    if (space !== undefined) return space;
    throw noSuchSpace(
      pipeline,
      name,
      spaces.map((one) => one.name),
    );
  }

  /** @throws MillraceError `generation_moved` when another one is active */
  function checkGeneration({ generation }: FoundLayout, wanted: number | undefined): void {
    if (wanted === undefined || wanted === generation) return;
    throw generationMoved(pipeline, generation, wanted);
  }

  return {
    searchTerms: async ({ spaces: some, ...query }, signal) => {
      const found = await locate(signal);
      if (found === undefined || found.spaces.length === 0) return [];
      checkGeneration(found, query.generation);
      const within = some === undefined ? found.spaces : some.map((name) => asked(found.spaces, name));
      return searchTerms(connection, names, found, within, query, signal);
    },
    chunks: async (ranges, signal) => {
      const found = await locate(signal);
      if (found === undefined || found.spaces.length === 0) return ranges.map(() => []);
      return readRanges(connection, names, found.key, ranges, signal);
    },
    search: async (query, signal) => {
      const found = await locate(signal);
      if (found === undefined || found.spaces.length === 0) return [];
      checkGeneration(found, query.generation);
      return searchChunks(connection, names, found, asked(found.spaces, query.space), query, signal);
    },
  };
}
