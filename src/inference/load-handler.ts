import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { HandlerSpec } from './handler-spec.js';
import { loadModelFiles } from './load-model-files.js';
import type { LoadModelOptions } from './load-model.js';
import { resolveModel } from './models/resolve-model.js';
import { createOwnHandler } from './own-handler.js';

/**
 * Opens the model of an `infer` step with the handler that its spec names, and fetches it where need be.
 * @throws MillraceError `config_invalid`, `model_not_found`, `model_corrupt`, `model_unsupported`, `runtime_missing`,
 * `remote_unavailable`, `inference_failed`, or the signal's reason
 */
export async function loadHandler(
  { onnx, transformers, own }: HandlerSpec,
  options: LoadModelOptions,
): Promise<ModelHandler<Json, Json>> {
  const { pool, onNotice } = options;
  if (own !== undefined) return createOwnHandler(own);
  if (onnx !== undefined) {
    const { createClassifier } = await import('./handlers/onnx/classifier/create-classifier.js');
    const folder = await loadModelFiles({ ...onnx, handler: 'onnx' }, options);
    return createClassifier({ folder, pool, options: onnx, ...(onNotice && { onNotice }) });
  }
  if (transformers !== undefined) {
    const { createTransformersHandler } =
      await import('./handlers/transformers/create-transformers-handler.js');
    const { transformersFiles } = await import('./handlers/transformers/model-files.js');
    const { model, revision, dtype } = transformers;
    const select = (paths: readonly string[]) => transformersFiles(paths, dtype);
    const folder = await resolveModel(model, { ...options, revision, select });
    return createTransformersHandler({ folder, pool, options: transformers });
  }
  throw new MillraceError('config_invalid', 'A model of an infer step names one handler.', {
    hint: 'Write, for example, model: { onnx: { model: ./topics } }.',
  });
}
