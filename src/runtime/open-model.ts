import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import type { HandlerSpec } from '../inference/handler-spec.js';
import { loadHandler } from '../inference/load-handler.js';
import { loadEmbeddingModel, type LoadModelOptions } from '../inference/load-model.js';
import type { ModelSpec } from '../inference/model-spec.js';
import { defaultWorkerCount } from '../inference/workers/cores.js';
import { createWorkerPool, type WorkerPool } from '../inference/workers/pool.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import type { OpenContext } from './open-parts.js';

export function openPool(
  spec: Pick<PipelineSpec, 'workers'>,
  { releasers }: Pick<OpenContext, 'releasers'>,
): WorkerPool {
  const pool = createWorkerPool({ size: spec.workers ?? defaultWorkerCount() });
  releasers.push(() => pool.close());
  return pool;
}

/** Where models come from, what runs them and who hears of it. */
export function loadOptions(
  { models, baseFolder }: Pick<PipelineSpec, 'models' | 'baseFolder'>,
  pool: WorkerPool,
  { clock, report }: Pick<OpenContext, 'clock' | 'report'>,
  signal?: AbortSignal,
): LoadModelOptions {
  const { hubUrl, token, offline, cacheFolder } = models;
  return {
    pool,
    baseFolder,
    cacheFolder,
    offline,
    signal,
    clock,
    onNotice: (notice) => report({ type: 'notice', ...notice }),
    ...(hubUrl !== undefined && { hubUrl }),
    ...(token !== undefined && { token }),
  };
}

/** A model for a single user. */
export async function openModel(
  embed: ModelSpec,
  spec: Pick<PipelineSpec, 'models' | 'baseFolder'>,
  pool: WorkerPool,
  context: Pick<OpenContext, 'releasers' | 'clock' | 'report'>,
  signal?: AbortSignal,
): Promise<EmbeddingModel> {
  const model = await loadEmbeddingModel(embed, loadOptions(spec, pool, context, signal));
  context.releasers.push(() => model.close());
  return model;
}

/** A model of an infer step, for a single user. */
export async function openHandler(
  handler: HandlerSpec,
  spec: Pick<PipelineSpec, 'models' | 'baseFolder'>,
  pool: WorkerPool,
  context: Pick<OpenContext, 'releasers' | 'clock' | 'report'>,
  signal?: AbortSignal,
): Promise<ModelHandler<Json, Json>> {
  const model = await loadHandler(handler, loadOptions(spec, pool, context, signal));
  context.releasers.push(() => model.close());
  return model;
}
