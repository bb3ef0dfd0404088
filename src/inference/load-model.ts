import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { HubModelOptions } from './models/hub-model.js';
import { loadModelFiles } from './load-model-files.js';
import type { ModelSpec } from './model-spec.js';
import type { WorkerPool } from './workers/pool.js';

export interface LoadModelOptions extends HubModelOptions {
  /** Runs the model; it stays open when the model is closed. */
  readonly pool: WorkerPool;
  /** Folder that a relative model path refers to. */
  readonly baseFolder: string;
}

/**
 * Finds a model, fetches it where need be, and opens it with the handler that its spec names. Only that handler's code
 * and runtime are loaded.
 * @throws MillraceError `config_invalid`, `model_not_found`, `model_corrupt`, `model_unsupported`, `runtime_missing`,
 * `remote_unavailable`, `inference_failed`, or the signal's reason
 */
export async function loadEmbeddingModel(
  spec: ModelSpec,
  options: LoadModelOptions,
): Promise<EmbeddingModel> {
  const { pool, onNotice } = options;
  if (spec.static !== undefined) {
    const { prompts } = spec.static;
    const { createStaticModel } = await import('./handlers/static/create-static-model.js');
    return createStaticModel({
      folder: await loadModelFiles({ ...spec.static, handler: 'static' }, options),
      pool,
      prompts,
    });
  }
  if (spec.onnx !== undefined) {
    const { createOnnxModel } = await import('./handlers/onnx/create-onnx-model.js');
    const folder = await loadModelFiles({ ...spec.onnx, handler: 'onnx' }, options);
    return createOnnxModel({
      folder,
      pool,
      options: spec.onnx,
      ...(onNotice === undefined ? {} : { onNotice }),
    });
  }
  throw new MillraceError('config_invalid', 'A model names one handler: static or onnx', {
    hint: 'Write, for example, static: { model: bundled }.',
  });
}
