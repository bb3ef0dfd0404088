import type { Filter, SearchHit } from '../contracts/chunk-search.js';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { Store, StoreCount } from '../contracts/store.js';
import type { Clock } from '../contracts/context.js';
import { MillraceError } from '../errors/millrace-error.js';
import { createEmbedder } from '../transforms/embed.js';

export interface RetrieveOptions {
  /** Hits at most, from 1. Default 5. */
  readonly k?: number;
  readonly filter?: Filter;
  readonly signal?: AbortSignal;
}

/** Answers questions from a filled store, with the model that the store was filled with. */
export interface Retriever {
  /** Chunks nearest to the text, best first. @throws MillraceError `config_invalid` for a blank text or a bad `k` */
  retrieve(text: string, options?: RetrieveOptions): Promise<readonly SearchHit[]>;
  count(): Promise<StoreCount>;
  close(): Promise<void>;
}

export interface RetrieverParts {
  readonly store: Store;
  readonly model: EmbeddingModel;
  readonly clock: Clock;
  release(): Promise<void>;
}

export function createRetriever({ store, model, clock, release }: RetrieverParts): Retriever {
  const closing = new AbortController();
  const { signal } = closing;
  const embedder = createEmbedder({ model, role: 'query', clock, signal, report: () => undefined });
  return {
    retrieve: async (text, { k = 5, filter, signal: cancel } = {}) => {
      if (text.trim() === '')
        throw new MillraceError('config_invalid', 'The text of a query must not be blank.');
      if (!Number.isInteger(k) || k < 1)
        throw new MillraceError('config_invalid', `k must be a whole number from 1, not ${k}.`);
      const either = cancel === undefined ? signal : AbortSignal.any([signal, cancel]);
      either.throwIfAborted();
      const { vector } = await embedder.embed({ text });
      return store.search.search({ vector, k, ...(filter && { filter }) }, either);
    },
    count: () => store.count(),
    close: async () => {
      closing.abort(new MillraceError('aborted', 'The retriever is closed.'));
      await release();
    },
  };
}
