import { MillraceError } from '../errors/millrace-error.js';
import { Releasers } from '../flow/releasers.js';
import { systemClock } from '../flow/system-clock.js';
import { describeDifference, identityDigest } from '../inference/identity.js';
import type { Connectors } from '../config/schema.js';
import { readChain } from '../pipeline/artifacts.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { createRetriever, type Retriever } from '../retrieval/retriever.js';
import { openModel, openPool } from './open-model.js';
import { openStore } from './open-parts.js';

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
    const model = await openModel(spec.embed, spec, pool, context);
    if (identityDigest(model.identity) !== identityDigest(stored.identity))
      throw new MillraceError(
        'artifact_mismatch',
        `The store holds vectors of the model "${stored.identity.name}", the configuration names "${model.identity.name}":\n` +
          describeDifference(stored.identity, model.identity),
        { hint: 'Query with the model that filled the store, or fill another store with this model.' },
      );
    return createRetriever({ store, model, clock: systemClock, release: () => releasers.release() });
  });
}
