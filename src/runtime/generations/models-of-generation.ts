import type { EmbeddingModel } from '../../contracts/embedding-model.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { describeDifference, identityDigest } from '../../inference/identity.js';
import type { WorkerPool } from '../../inference/workers/pool.js';
import type { ChainArtifact } from '../../pipeline/artifacts.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import { openModel } from '../open-model.js';
import type { OpenContext } from '../open-parts.js';
import { openEmbeddings } from '../open-routes.js';
import { chainOfGeneration } from './chain-of-generation.js';

/**
 * The models that filled a generation, to ask it with. @throws MillraceError `artifact_mismatch` when one of them is not
 * what it was, and as a model does that is not there any more
 */
export async function modelsOfGeneration(
  spec: PipelineSpec,
  stored: ChainArtifact,
  pool: WorkerPool,
  context: OpenContext,
): Promise<ReadonlyMap<string, EmbeddingModel>> {
  const models = await openEmbeddings(chainOfGeneration(spec, stored), (model) =>
    openModel(model, spec, pool, context),
  );
  for (const [space, { identity }] of models) {
    const before = stored.identities[space]!;
    if (identityDigest(before) !== identityDigest(identity))
      throw new MillraceError(
        'artifact_mismatch',
        `The model ${before.name} is not what it was: ${describeDifference(before, identity)}`,
      );
  }
  return models;
}
