import type { SearchHit } from '../contracts/chunk-search.js';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { Store, StoreCount } from '../contracts/store.js';
import type { Clock } from '../contracts/context.js';
import type { Condition } from '../elements/filter/condition.js';
import type { Filter } from '../elements/filter/filter.js';
import { readFilter } from '../elements/filter/read-filter.js';
import { MillraceError } from '../errors/millrace-error.js';
import { createEmbedder } from '../transforms/embed.js';
import { checkQuestion } from './check-question.js';
import { fuseByRank, fusionDepth } from './fusion.js';
import type { Hit, ScoreKind } from './hit.js';
import { joinChunks, type Passage } from './passage.js';
import { withNeighbours } from './with-neighbours.js';

export interface RetrieveOptions {
  /** Hits at most, from 1. Default 5. */
  readonly k?: number;
  readonly filter?: Filter;
  /** Key of a route: only its spaces are asked. Default: all. */
  readonly route?: string;
  /** Least cosine similarity, from -1 to 1: what is below in a space is no hit there. Default: none. */
  readonly threshold?: number;
  /** Chunks before and after each hit that make its `passage`, from 0. Default: no passage. */
  readonly neighbours?: number;
  readonly signal?: AbortSignal;
}

/** Answers questions from a filled store, with the models that the store was filled with. */
export interface Retriever {
  /**
   * Chunks nearest to the text, best first. Where several spaces are asked, each by its own model, their rankings are
   * fused by rank, else hits are in the order of their cosine similarity; each hit says what its score is.
   * @throws MillraceError `config_invalid` for a blank text or a bad option, `route_unknown` for a route without models
   */
  retrieve(text: string, options?: RetrieveOptions): Promise<readonly Hit[]>;
  /** A whole document, put together from its chunks; undefined when the store holds none of it. */
  document(documentId: string, options?: { readonly signal?: AbortSignal }): Promise<Passage | undefined>;
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

  async function nearest(space: string, text: string, question: Question): Promise<readonly SearchHit[]> {
    const { k, filter, threshold, cancel } = question;
    const { vector } = await embedders.get(space)!.embed({ text });
    const hits = await store.search.search({ space, vector, k, filter }, cancel);
    return threshold === undefined ? hits : hits.filter(({ score }) => score >= threshold);
  }

  async function ranked(
    spaces: readonly string[],
    text: string,
    question: Question,
  ): Promise<readonly Hit[]> {
    const [only] = spaces;
    if (spaces.length === 1) return (await nearest(only!, text, question)).map(scored('cosine'));
    const deep = { ...question, k: fusionDepth(question.k, spaces.length) };
    const lists = await Promise.all(spaces.map((space) => nearest(space, text, deep)));
    return fuseByRank(lists, question.k).map(scored('rank'));
  }

  /** Aborts when the caller does or the retriever is closed. */
  function either(cancel: AbortSignal | undefined): AbortSignal {
    const both = cancel === undefined ? signal : AbortSignal.any([signal, cancel]);
    both.throwIfAborted();
    return both;
  }

  return {
    retrieve: async (text, options = {}) => {
      const { k = 5, filter, route, threshold, neighbours } = options;
      checkQuestion(text, { ...options, k });
      const cancel = either(options.signal);
      const question = { k, filter: readFilter(filter), threshold, cancel };
      const spaces = route === undefined ? [...models.keys()] : spacesOf(route);
      const hits = await ranked(spaces, text, question);
      return neighbours === undefined ? hits : withNeighbours(hits, neighbours, store.search, cancel);
    },
    document: async (documentId, options = {}) => {
      const whole = { documentId, first: 0, last: Infinity };
      const [chunks] = await store.search.chunks([whole], either(options.signal));
      return chunks!.length === 0 ? undefined : joinChunks(chunks!);
    },
    count: () => store.count(),
    close: async () => {
      closing.abort(new MillraceError('aborted', 'The retriever is closed.'));
      await release();
    },
  };
}

interface Question {
  readonly k: number;
  readonly filter: Condition;
  readonly threshold: number | undefined;
  readonly cancel: AbortSignal;
}

function scored(scoreKind: ScoreKind): (hit: SearchHit) => Hit {
  return (hit) => ({ ...hit, scoreKind });
}
