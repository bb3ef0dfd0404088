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
    const stored = await readChain(store.artifacts);
    if (stored === undefined)
      throw new MillraceError(
        'store_layout',
        `Nothing was stored yet under the pipeline name "${spec.name}".`,
        {
          hint: 'Fill the store first with `millrace run`.',
        },
      );
    // One query at a time needs one thread.
    const pool = openPool({ workers: 1 }, context);
    const models = await openEmbeddings(spec, (model) => openModel(model, spec, pool, context));
    checkSpaces(stored, models);
    const rule = { ...spec.embed, models: [...models.keys()] };
    return createRetriever({
      store,
      models,
      terms: termSearch(stored, store, spec),
      spacesOf: (key) => routeOfKey(rule, key),
      clock: systemClock,
      release: () => releasers.release(),
    });
  });
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

/** @throws MillraceError `artifact_mismatch` that says for each space what differs */
function checkSpaces({ identities }: ChainArtifact, models: ReadonlyMap<string, EmbeddingModel>): void {
  const spaces = [...new Set([...Object.keys(identities), ...models.keys()])].sort();
  const wrong = spaces.flatMap((space) => {
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
  if (wrong.length === 0) return;
  throw new MillraceError('artifact_mismatch', wrong.join('\n'), {
    hint: 'Query with the models that filled the store, or fill another store with these.',
  });
}
