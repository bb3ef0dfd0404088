import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import type { HandlerSpec } from './handler-spec.js';
import type { LoadModelOptions } from './load-model.js';
import { prepareHandler } from './prepare-handler.js';

/**
 * Opens the model of an `infer` step for one user alone: the caller closes it.
 * @throws MillraceError as `prepareHandler`, `runtime_missing`, `device_unavailable`, `resources_insufficient`,
 * `inference_failed`
 */
export async function loadHandler(
  spec: HandlerSpec,
  options: LoadModelOptions,
): Promise<ModelHandler<Json, Json>> {
  const prepared = await prepareHandler(spec, options);
  return prepared.load(options.signal ?? new AbortController().signal);
}
