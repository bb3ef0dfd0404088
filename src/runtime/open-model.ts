import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { loadEmbeddingModel } from '../inference/load-model.js';
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

export async function openModel(
  embed: ModelSpec,
  { models, baseFolder }: Pick<PipelineSpec, 'models' | 'baseFolder'>,
  pool: WorkerPool,
  { releasers }: Pick<OpenContext, 'releasers'>,
  signal?: AbortSignal,
): Promise<EmbeddingModel> {
  const { hubUrl, token, offline, cacheFolder } = models;
  const model = await loadEmbeddingModel(embed, {
    pool,
    baseFolder,
    cacheFolder,
    offline,
    signal,
    ...(hubUrl !== undefined && { hubUrl }),
    ...(token !== undefined && { token }),
  });
  releasers.push(() => model.close());
  return model;
}
