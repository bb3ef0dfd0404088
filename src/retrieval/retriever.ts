import type { SearchHit } from '../contracts/chunk-search.js';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { Store, StoreCount } from '../contracts/store.js';
import type { Clock } from '../contracts/context.js';
import type { Condition } from '../elements/filter/condition.js';
import type { Filter } from '../elements/filter/filter.js';
import { readFilter } from '../elements/filter/read-filter.js';
import { MillraceError } from '../errors/millrace-error.js';
import { createEmbedder } from '../transforms/embed.js';
import { fuseByRank, fusionDepth } from './fusion.js';

export interface RetrieveOptions {
  /** Hits at most, from 1. Default 5. */
  readonly k?: number;
  readonly filter?: Filter;
  /** Key of a route: only its spaces are asked. Default: all. */
  readonly route?: string;
  readonly signal?: AbortSignal;
}

/** Answers questions from a filled store, with the models that the store was filled with. */
export interface Retriever {
  /**
   * Chunks nearest to the text, best first. Where several spaces are asked, each by its own model, their rankings are
   * fused by rank, and `score` is that of the fusion (see `fuseByRank`), else the cosine similarity.
   * @throws MillraceError `config_invalid` for a blank text, a bad `k` or a bad filter, `route_unknown` for a route without models
   */
  retrieve(text: string, options?: RetrieveOptions): Promise<readonly SearchHit[]>;
  count(): Promise<StoreCount>;
  close(): Promise<void>;
}

export interface RetrieverParts {
  readonly store: Store;
  /** By the names of their spaces. */
  readonly models: ReadonlyMap<string, EmbeddingModel>;
  /** Names of the spaces of a route. @throws MillraceError `route_unknown` */
  spacesOf(route: string): readonly string[];
  readonly clock: Clock;
  release(): Promise<void>;
}

export function createRetriever({ store, models, spacesOf, clock, release }: RetrieverParts): Retriever {
  const closing = new AbortController();
  const { signal } = closing;
  const embedders = new Map(
    [...models].map(([space, model]) => [
      space,
      createEmbedder({ model, role: 'query', clock, signal, report: () => undefined }),
    ]),
  );

  async function search(
    space: string,
    text: string,
    k: number,
    filter: Condition,
    cancel: AbortSignal,
  ): Promise<readonly SearchHit[]> {
    const { vector } = await embedders.get(space)!.embed({ text });
    return store.search.search({ space, vector, k, filter }, cancel);
  }

  return {
    retrieve: async (text, { k = 5, filter, route, signal: cancel } = {}) => {
      if (text.trim() === '')
        throw new MillraceError('config_invalid', 'The text of a query must not be blank.');
      if (!Number.isInteger(k) || k < 1)
        throw new MillraceError('config_invalid', `k must be a whole number from 1, not ${k}.`);
      const either = cancel === undefined ? signal : AbortSignal.any([signal, cancel]);
      either.throwIfAborted();
      const condition = readFilter(filter);
      const spaces = route === undefined ? [...models.keys()] : spacesOf(route);
      const [only] = spaces;
      if (spaces.length === 1) return search(only!, text, k, condition, either);
      const lists = await Promise.all(
        spaces.map((space) => search(space, text, fusionDepth(k, spaces.length), condition, either)),
      );
      return fuseByRank(lists, k);
    },
    count: () => store.count(),
    close: async () => {
      closing.abort(new MillraceError('aborted', 'The retriever is closed.'));
      await release();
    },
  };
}
