import { setMaxListeners } from 'node:events';
import type { SearchHit } from '../contracts/chunk-search.js';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { Store, StoreCount } from '../contracts/store.js';
import type { Clock } from '../contracts/context.js';
import type { Condition } from '../elements/filter/condition.js';
import type { Filter } from '../elements/filter/filter.js';
import { readFilter } from '../elements/filter/read-filter.js';
import { MillraceError } from '../errors/millrace-error.js';
import { untilAborted } from '../errors/until-aborted.js';
import { createEmbedder } from '../transforms/embed.js';
import { countTerms } from '../transforms/terms/count-terms.js';
import { checkQuestion } from './check-question.js';
import { fuseByRank, fusionDepth } from './fusion.js';
import type { Hit, ScoreKind, SearchMode } from './hit.js';
import { joinChunks, type Passage } from './passage.js';
import { ofTenant, tenantOf, type TenantOptions } from './tenancy.js';
import { neededTerms, type TermSearch } from './term-search.js';
import { withNeighbours } from './with-neighbours.js';

export interface RetrieveOptions extends TenantOptions {
  /** Hits at most, from 1. Default 5. */
  readonly k?: number;
  readonly filter?: Filter;
  /** Default `dense`. The others need a store that was filled with the step `sparse`. */
  readonly mode?: SearchMode;
  /** Key of a route: only its spaces are asked. Default: all. */
  readonly route?: string;
  /** Least cosine similarity, from -1 to 1: what is below in a space is not found there; by its words it may be. Default: none. */
  readonly threshold?: number;
  /** Chunks before and after each hit that make its `passage`, from 0. Default: no passage. */
  readonly neighbours?: number;
  /** Gives the question up. */
  readonly signal?: AbortSignal;
}

export interface DocumentOptions extends TenantOptions {
  readonly signal?: AbortSignal;
}

/** Answers questions from a filled store, with the models that the store was filled with. */
export interface Retriever {
  /**
   * Chunks that answer the text, best first: each space is asked by its own model, the words by BM25. Where there is one
   * ranking, hits have its scores, where there are several, these are fused by rank; each hit says what its score is.
   * @throws MillraceError `config_invalid` for a blank text, a bad option or, in a store that keeps documents by tenant, no
   * word of whose are asked; `route_unknown` for a route without models
   */
  retrieve(text: string, options?: RetrieveOptions): Promise<readonly Hit[]>;
  /**
   * A whole document, put together from its chunks; undefined when the store holds none of it, or it is another tenant's.
   * @throws MillraceError `config_invalid` where a store keeps documents by tenant and nothing says whose is asked
   */
  document(documentId: string, options?: DocumentOptions): Promise<Passage | undefined>;
  count(): Promise<StoreCount>;
  close(): Promise<void>;
}

export interface RetrieverParts {
  readonly store: Store;
  /** By the names of their spaces. */
  readonly models: ReadonlyMap<string, EmbeddingModel>;
  /** Where the store holds words. */
  readonly terms: TermSearch | undefined;
  /** Names of the spaces of a route. @throws MillraceError `route_unknown` */
  spacesOf(route: string): readonly string[];
  readonly clock: Clock;
  release(): Promise<void>;
}

export function createRetriever(parts: RetrieverParts): Retriever {
  const { store, models, terms, spacesOf, clock, release } = parts;
  const closing = new AbortController();
  const { signal } = closing;
  // Every question under way listens; Node takes more than ten for a leak.
  setMaxListeners(0, signal);
  const embedders = new Map(
    [...models].map(([space, model]) => [
      space,
      createEmbedder({ model, role: 'query', clock, signal, report: () => undefined }),
    ]),
  );

  async function nearest(space: string, { text, threshold, ...query }: Question): Promise<Ranking> {
    const { k, filter, cancel } = query;
    // A model that is away is waited for, by this caller as long as it likes.
    const { vector } = await untilAborted(embedders.get(space)!.embed({ text }, cancel), cancel);
    const hits = await store.search.search({ space, vector, k, filter }, cancel);
    return threshold === undefined ? hits : hits.filter(({ score }) => score >= threshold);
  }

  async function byWords({ search, k1, b }: TermSearch, question: Question): Promise<Ranking> {
    const { text, k, filter, route, cancel } = question;
    const spaces = route === undefined ? {} : { spaces: spacesOf(route) };
    return search({ terms: countTerms(text), k1, b, k, filter, ...spaces }, cancel);
  }

  async function ranked(question: Question): Promise<readonly Hit[]> {
    const { k, mode, route } = question;
    const words = mode === 'dense' ? undefined : neededTerms(terms, mode);
    const spaces = mode === 'sparse' ? [] : route === undefined ? [...models.keys()] : spacesOf(route);
    const lists = spaces.length + (words === undefined ? 0 : 1);
    const deep = lists === 1 ? question : { ...question, k: fusionDepth(k, lists) };
    const rankings = await Promise.all([
      ...spaces.map((space) => nearest(space, deep)),
      ...(words === undefined ? [] : [byWords(words, deep)]),
    ]);
    const scored = (scoreKind: ScoreKind) => (hit: SearchHit) => ({ ...hit, scoreKind, mode });
    if (lists > 1) return fuseByRank(rankings, k).map(scored('rank'));
    return rankings[0]!.map(scored(mode === 'sparse' ? 'bm25' : 'cosine'));
  }

  /** Aborts when the caller does or the retriever is closed. */
  function either(cancel: AbortSignal | undefined): AbortSignal {
    const both = cancel === undefined ? signal : AbortSignal.any([signal, cancel]);
    both.throwIfAborted();
    return both;
  }

  return {
    retrieve: async (text, options = {}) => {
      const { k = 5, mode = 'dense', filter, route, threshold, neighbours } = options;
      checkQuestion(text, { ...options, k, mode });
      const asked = ofTenant(store, readFilter(filter), options);
      const cancel = either(options.signal);
      const hits = await ranked({ text, k, mode, filter: asked, route, threshold, cancel });
      return neighbours === undefined ? hits : withNeighbours(hits, neighbours, store.search, cancel);
    },
    document: async (documentId, options = {}) => {
      ofTenant(store, { kind: 'all', of: [] }, options);
      const whole = { documentId, first: 0, last: Infinity };
      const [chunks] = await store.search.chunks([whole], either(options.signal));
      const foreign = options.tenant !== undefined && tenantOf(store.tenant!, chunks![0]) !== options.tenant;
      return chunks!.length === 0 || foreign ? undefined : joinChunks(chunks!);
    },
    count: () => store.count(),
    close: async () => {
      closing.abort(new MillraceError('aborted', 'The retriever is closed.'));
      await release();
    },
  };
}

interface Question {
  readonly text: string;
  readonly k: number;
  readonly mode: SearchMode;
  readonly filter: Condition;
  readonly route: string | undefined;
  readonly threshold: number | undefined;
  readonly cancel: AbortSignal;
}

/** Best first. */
type Ranking = readonly SearchHit[];
