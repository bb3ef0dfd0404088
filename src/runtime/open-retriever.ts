import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { Store } from '../contracts/store.js';
import { MillraceError } from '../errors/millrace-error.js';
import { Releasers } from '../flow/releasers.js';
import { systemClock } from '../flow/system-clock.js';
import { describeDifference, identityDigest } from '../inference/identity.js';
import type { Connectors } from '../config/schema.js';
import { defaultKey, routeOfKey } from '../inference/routing.js';
import { holdsTerms, readChain, type ChainArtifact } from '../pipeline/artifacts.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { createRetriever, type Retriever } from '../retrieval/retriever.js';
import type { TermSearch } from '../retrieval/term-search.js';
import { defaultSparse } from '../transforms/terms/sparse-schema.js';
import { embedOfChain } from './generations/embed-of-chain.js';
import { activeChain } from './generations/find.js';
import { createMovingRetriever } from './generations/moving-retriever.js';
import { openModel, openPool } from './open-model.js';
import { openStore } from './open-parts.js';
import { openEmbeddings } from './open-routes.js';

export interface OpenRetrieverOptions {
  readonly connectors: Connectors;
}

/**
 * Opens the query side of a pipeline.
 * @throws MillraceError `store_layout` when nothing was filled yet; `artifact_mismatch` when the configured model
 * is not the one whose vectors are in the store
 */
export async function openPipelineRetriever(
  spec: PipelineSpec,
  { connectors }: OpenRetrieverOptions,
): Promise<Retriever> {
  const releasers = new Releasers();
  const context = { connectors, clock: systemClock, report: () => undefined, releasers };
  return releasers.guard(async () => {
    const store = await openStore(spec, context);
    // One query at a time needs one thread.
    const pool = openPool({ workers: 1 }, context);
    const nothing = (await activeChain(store)) === undefined;
    if (nothing) throw nothingStored(spec);
    const configured = await openEmbeddings(spec, (model) => openModel(model, spec, pool, context));

    /** The retriever of the generation that is active now. */
    const open = async (): Promise<Retriever> => {
      const active = await activeChain(store);
      if (active === undefined) throw nothingStored(spec);
      const { number, chain: stored } = active;
      const own = new Releasers();
      return own.guard(async () => {
        let [models, keys] = [configured, spec.embed.keys];
        if (differingSpaces(stored, configured).length > 0) {
          // The store is between two models, and the configuration names one of them already, or still.
          if (!(await isOfGeneration(store, configured))) checkSpaces(stored, configured);
          const embed = embedOfChain(stored);
          const local = { ...context, releasers: own };
          models = await openEmbeddings({ embed }, (model) => openModel(model, spec, pool, local));
          checkSpaces(stored, models);
          keys = embed.keys;
        }
        const rule = { keys, models: [...models.keys()] };
        const asked = number === undefined ? store : ofGeneration(store, number);
        return createRetriever({
          store: asked,
          models,
          terms: termSearch(stored, asked, spec),
          spacesOf: (key) => routeOfKey(rule, key),
          clock: systemClock,
          release: () => own.release(),
        });
      });
    };
    return createMovingRetriever(await open(), open, () => releasers.release());
  });
}

function nothingStored({ name }: PipelineSpec): MillraceError {
  return new MillraceError('store_layout', `Nothing was stored yet under the pipeline name "${name}".`, {
    hint: 'Fill the store first with `millrace run`.',
  });
}

/** A search is refused once another generation is active than the one whose models are asked. */
function ofGeneration(store: Store, generation: number): Store {
  const { search } = store;
  return {
    ...store,
    search: {
      ...search,
      search: (query, signal) => search.search({ ...query, generation }, signal),
      ...(search.searchTerms && {
        searchTerms: (query, signal) => search.searchTerms!({ ...query, generation }, signal),
      }),
    },
  };
}

/** Whether some generation beside the active one holds vectors of these models. */
async function isOfGeneration(
  { generations }: Store,
  models: ReadonlyMap<string, EmbeddingModel>,
): Promise<boolean> {
  for (const { number } of (await generations?.list()) ?? []) {
    const chain = await readChain(generations!.view(number).artifacts);
    if (chain !== undefined && differingSpaces(chain, models).length === 0) return true;
  }
  return false;
}

/** How words are ranked is said by the configuration; whether there are any, by the store. */
function termSearch(
  stored: ChainArtifact,
  { search: { searchTerms: search } }: Store,
  { sparse }: PipelineSpec,
): TermSearch | undefined {
  if (search === undefined || !holdsTerms(stored)) return undefined;
  return { search, ...(sparse ?? defaultSparse).bm25 };
}

/** For each space that differs, how. */
function differingSpaces(
  { identities }: ChainArtifact,
  models: ReadonlyMap<string, EmbeddingModel>,
): readonly string[] {
  const spaces = [...new Set([...Object.keys(identities), ...models.keys()])].sort();
  return spaces.flatMap((space) => {
    const stored = identities[space];
    const now = models.get(space)?.identity;
    const where = space === defaultKey ? '' : ` in space ${JSON.stringify(space)}`;
    if (stored === undefined) return [`The store holds no vectors${where}.`];
    if (now === undefined) return [`The configuration names no model for the vectors${where}.`];
    if (identityDigest(now) === identityDigest(stored)) return [];
    return [
      `The store holds vectors of the model "${stored.name}"${where}, the configuration names "${now.name}":\n` +
        describeDifference(stored, now),
    ];
  });
}

/** @throws MillraceError `artifact_mismatch` that says for each space what differs */
function checkSpaces(stored: ChainArtifact, models: ReadonlyMap<string, EmbeddingModel>): void {
  const wrong = differingSpaces(stored, models);
  if (wrong.length === 0) return;
  throw new MillraceError('artifact_mismatch', wrong.join('\n'), {
    hint: 'Query with the models that filled the store, or fill another store with these.',
  });
}
