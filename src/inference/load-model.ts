import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { HubModelOptions } from './models/hub-model.js';
import type { SelectFiles } from './models/model-folder.js';
import { resolveModel } from './models/resolve-model.js';
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
  const find = ({ model, revision }: { model: string; revision?: string | undefined }, select: SelectFiles) =>
    resolveModel(model, { ...options, revision, select });

  if (spec.static !== undefined) {
    const { prompts } = spec.static;
    const { createStaticModel } = await import('./handlers/static/create-static-model.js');
    const { staticFiles } = await import('./handlers/static/model-files.js');
    return createStaticModel({ folder: await find(spec.static, staticFiles), pool, prompts });
  }
  if (spec.onnx !== undefined) {
    const { onnxFiles } = await import('./handlers/onnx/model-files.js');
    const { createOnnxModel } = await import('./handlers/onnx/create-onnx-model.js');
    const { dtype } = spec.onnx;
    const folder = await find(spec.onnx, (paths) => {
      const { graph, data, settings } = onnxFiles(paths, dtype);
      return [graph, ...data, ...settings];
    });
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
