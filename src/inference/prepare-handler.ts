import { randomUUID } from 'node:crypto';
import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import { MillraceError } from '../errors/millrace-error.js';
import { systemChance } from '../flow/chance.js';
import { systemClock } from '../flow/system-clock.js';
import type { HandlerSpec } from './handler-spec.js';
import { loadModelFiles } from './load-model-files.js';
import type { Loadable } from './loadable.js';
import { modelKey } from './model-key.js';
import type { SelectFiles } from './models/model-folder.js';
import { resolveModel } from './models/resolve-model.js';
import { createOwnHandler } from './own-handler.js';
import type { PrepareModelOptions } from './prepare-model.js';
import { stagedOnce } from './staged-once.js';

/**
 * Finds the model of an `infer` step, fetches it where need be, and says how to open it with the handler that its spec
 * names.
 * @throws MillraceError `config_invalid`, `model_not_found`, `model_corrupt`, `model_unsupported`, `remote_unavailable`,
 * or the signal's reason
 */
export async function prepareHandler(
  { onnx, transformers, openai, own }: HandlerSpec,
  options: PrepareModelOptions,
): Promise<Loadable<ModelHandler<Json, Json>>> {
  const { pool, onNotice, stage, clock = systemClock, chance = systemChance } = options;
  if (own !== undefined)
    return {
      // Two functions are never known to be the same.
      key: randomUUID(),
      name: own.modelId,
      bytes: 0,
      load: async () => createOwnHandler(own),
    };
  if (onnx !== undefined) {
    const folder = await loadModelFiles({ ...onnx, handler: 'onnx' }, options);
    const staged = stagedOnce(folder, stage);
    const { onnxFiles, weightsDigest } = await import('./handlers/onnx/model-files.js');
    const { onnxMemory } = await import('./handlers/onnx/onnx-memory.js');
    const { model: _model, revision: _revision, ...settings } = onnx;
    return {
      key: modelKey('onnx classifier', folder, settings),
      name: folder.name,
      bytes: onnxMemory(folder, settings, pool.size),
      weights: weightsDigest(onnxFiles([...folder.files.keys()], settings.dtype, folder.name), folder.files),
      stage: staged,
      load: async (signal) => {
        const { createClassifier } = await import('./handlers/onnx/classifier/create-classifier.js');
        return createClassifier({
          folder: await staged(signal),
          pool,
          options: settings,
          ...(onNotice && { onNotice }),
        });
      },
    };
  }
  if (transformers !== undefined) {
    const { transformersFiles } = await import('./handlers/transformers/model-files.js');
    const { model, revision, ...settings } = transformers;
    const select: SelectFiles = (paths, name) => transformersFiles(paths, settings.dtype, name);
    const folder = await resolveModel(model, { ...options, revision, select });
    const staged = stagedOnce(folder, stage);
    const graphs = [...folder.files].filter(([path]) => /\.onnx(_data.*)?$/.test(path));
    return {
      key: modelKey('transformers', folder, settings),
      name: folder.name,
      bytes: pool.size * graphs.reduce((sum, [, { bytes }]) => sum + bytes, 0),
      ...(graphs.length === 1 && { weights: graphs[0]![1].sha256 }),
      stage: staged,
      load: async (signal) => {
        const { createTransformersHandler } =
          await import('./handlers/transformers/create-transformers-handler.js');
        return createTransformersHandler({ folder: await staged(signal), pool, options: settings });
      },
    };
  }
  if (openai !== undefined)
    return {
      key: modelKey('openai chat', undefined, openai),
      name: openai.model,
      bytes: 0,
      load: async (signal) => {
        const { createChatHandler } = await import('./handlers/openai/chat/create-chat-handler.js');
        return createChatHandler({ options: openai, clock, chance, signal });
      },
    };
  throw new MillraceError('config_invalid', 'A model of an infer step names one handler.', {
    hint: 'Write, for example, model: { onnx: { model: ./topics } }.',
  });
}
