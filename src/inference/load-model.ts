import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { ModelSpec } from './model-spec.js';
import { prepareEmbeddingModel, type PrepareModelOptions } from './prepare-model.js';

export type LoadModelOptions = PrepareModelOptions;

/**
 * Finds a model, fetches it where need be, and opens it, for one user alone: the caller closes it.
 * @throws MillraceError as `prepareEmbeddingModel`, `runtime_missing`, `device_unavailable`, `resources_insufficient`,
 * `inference_failed`
 */
export async function loadEmbeddingModel(
  spec: ModelSpec,
  options: LoadModelOptions,
): Promise<EmbeddingModel> {
  const prepared = await prepareEmbeddingModel(spec, options);
  return prepared.load(options.signal ?? new AbortController().signal);
}
