import { join } from 'node:path';
import type { Clock } from '../contracts/context.js';
import type { EmbeddingModel, TokenizerRef } from '../contracts/embedding-model.js';
import { MillraceError } from '../errors/millrace-error.js';
import { systemChance, type Chance } from '../flow/chance.js';
import { systemClock } from '../flow/system-clock.js';
import type { HubModelOptions } from './models/hub-model.js';
import { resolveModel } from './models/resolve-model.js';
import { loadModelFiles } from './load-model-files.js';
import type { ModelSpec } from './model-spec.js';
import type { WorkerPool } from './workers/pool.js';

export interface LoadModelOptions extends HubModelOptions {
  /** Runs the model; it stays open when the model is closed. */
  readonly pool: WorkerPool;
  /** Folder that a relative model path refers to. */
  readonly baseFolder: string;
  /** Time of remote models. Default: the machine's own. */
  readonly clock?: Clock;
  /** Spreads the waits for remote models. Default: the machine's own. */
  readonly chance?: Chance;
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
  if (spec.openai !== undefined) {
    const { createOpenAiModel } = await import('./handlers/openai/create-openai-model.js');
    const { tokenizer } = spec.openai;
    const { clock = systemClock, chance = systemChance, signal } = options;
    return createOpenAiModel({
      options: spec.openai,
      tokenizer: tokenizer === undefined ? undefined : await remoteTokenizer(tokenizer, options),
      clock,
      chance,
      signal,
      ...(onNotice === undefined ? {} : { onNotice }),
    });
  }
  if (spec.own !== undefined) return spec.own.load(options.signal);
  throw new MillraceError('config_invalid', 'A model names one handler: static, onnx, openai or own', {
    hint: 'Write, for example, static: { model: bundled }.',
  });
}

/** Of the model behind an address only the tokenizer is wanted here. */
async function remoteTokenizer(model: string, options: LoadModelOptions): Promise<TokenizerRef> {
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
