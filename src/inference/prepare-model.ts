import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../contracts/context.js';
import type { EmbeddingModel, TokenizerRef } from '../contracts/embedding-model.js';
import { MillraceError } from '../errors/millrace-error.js';
import { systemChance, type Chance } from '../flow/chance.js';
import { systemClock } from '../flow/system-clock.js';
import type { Loadable } from './loadable.js';
import { modelKey } from './model-key.js';
import type { HubModelOptions } from './models/hub-model.js';
import { resolveModel } from './models/resolve-model.js';
import { loadModelFiles } from './load-model-files.js';
import type { ModelSpec } from './model-spec.js';
import { openOwnEmbedding } from './open-own-embedding.js';
import { stagedOnce, type StageFiles } from './staged-once.js';
import type { WorkerPool } from './workers/pool.js';

export interface PrepareModelOptions extends HubModelOptions {
  /** Runs the model; it stays open when the model is closed. */
  readonly pool: WorkerPool;
  /** Folder that a relative model path refers to. */
  readonly baseFolder: string;
  /** Time of remote models. Default: the machine's own. */
  readonly clock?: Clock | undefined;
  /** Spreads the waits for remote models. Default: the machine's own. */
  readonly chance?: Chance | undefined;
  /** Takes the files to where the model is loaded from, at its first load. Default: they are loaded where they are. */
  readonly stage?: StageFiles | undefined;
}

/**
 * Finds a model's files, fetches them where need be, and says how to open it with the handler that its spec names. Only
 * that handler's code and runtime are ever loaded.
 * @throws MillraceError `config_invalid`, `model_not_found`, `model_corrupt`, `model_unsupported`, `remote_unavailable`,
 * or the signal's reason
 */
export async function prepareEmbeddingModel(
  spec: ModelSpec,
  options: PrepareModelOptions,
): Promise<Loadable<EmbeddingModel>> {
  const { pool, onNotice, clock = systemClock, chance = systemChance, stage } = options;
  const notify = onNotice === undefined ? {} : { onNotice };
  if (spec.static !== undefined) {
    const { prompts } = spec.static;
    const folder = await loadModelFiles({ ...spec.static, handler: 'static' }, options);
    const staged = stagedOnce(folder, stage);
    return {
      key: modelKey('static', folder, prompts),
      name: folder.name,
      // One copy for all threads.
      bytes: folder.files.get('model.safetensors')!.bytes,
      weights: folder.files.get('model.safetensors')!.sha256,
      stage: staged,
      load: async (signal) => {
        const { createStaticModel } = await import('./handlers/static/create-static-model.js');
        return createStaticModel({ folder: await staged(signal), pool, prompts });
      },
    };
  }
  if (spec.onnx !== undefined) {
    const folder = await loadModelFiles({ ...spec.onnx, handler: 'onnx' }, options);
    const staged = stagedOnce(folder, stage);
    const { onnxFiles, weightsDigest } = await import('./handlers/onnx/model-files.js');
    const { onnxMemory } = await import('./handlers/onnx/onnx-memory.js');
    const { model: _model, revision: _revision, ...settings } = spec.onnx;
    return {
      key: modelKey('onnx', folder, settings),
      name: folder.name,
      bytes: onnxMemory(folder, settings, pool.size),
      weights: weightsDigest(onnxFiles([...folder.files.keys()], settings.dtype, folder.name), folder.files),
      stage: staged,
      load: async (signal) => {
        const { createOnnxModel } = await import('./handlers/onnx/create-onnx-model.js');
        return createOnnxModel({ folder: await staged(signal), pool, options: settings, ...notify });
      },
    };
  }
  if (spec.openai !== undefined) {
    const { openai } = spec;
    const tokenizer =
      openai.tokenizer === undefined ? undefined : await remoteTokenizer(openai.tokenizer, options);
    return {
      key: modelKey('openai', undefined, openai),
      name: openai.model,
      bytes: 0,
      load: async (signal) => {
        const { createOpenAiModel } = await import('./handlers/openai/create-openai-model.js');
        return createOpenAiModel({ options: openai, tokenizer, clock, chance, signal, ...notify });
      },
    };
  }
  if (spec.own !== undefined) {
    const { own } = spec;
    return {
      // Two functions are never known to be the same.
      key: randomUUID(),
      name: 'own',
      bytes: 0,
      load: (signal) => openOwnEmbedding(own, signal),
    };
  }
  throw new MillraceError('config_invalid', 'A model names one handler: static, onnx, openai or own', {
    hint: 'Write, for example, static: { model: bundled }.',
  });
}

/** Of the model behind an address only the tokenizer is wanted here. */
async function remoteTokenizer(model: string, options: PrepareModelOptions): Promise<TokenizerRef> {
  const file = 'tokenizer.json';
  const select = (paths: readonly string[]) => {
    if (paths.includes(file)) return [file];
    throw new MillraceError('model_unsupported', `The tokenizer ${model} has no ${file}`, {
      hint: 'Name the folder or the hub id of a model with a tokenizer.json, or leave tokenizer out.',
    });
  };
  const { path, files } = await resolveModel(model, { ...options, select });
  return { file: join(path, file), digest: files.get(file)!.sha256 };
}
