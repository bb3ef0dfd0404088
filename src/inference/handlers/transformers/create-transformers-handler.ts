import { createHash } from 'node:crypto';
import type { ModelHandler } from '../../../contracts/model-handler.js';
import { canonicalJson } from '../../../elements/canonical-json.js';
import type { Json } from '../../../elements/metadata.js';
import { fromWire } from '../../../errors/wire.js';
import type { ModelFolder } from '../../models/model-folder.js';
import type { WorkerPool } from '../../workers/pool.js';
import { threadsOf } from '../onnx/cpu-place.js';
import { graphFolder } from './model-files.js';
import type { TransformersOptions } from './options.js';
import type { TransformersResult, TransformersServiceOptions } from './service.js';

export interface TransformersParts {
  readonly folder: ModelFolder;
  readonly pool: WorkerPool;
  readonly options: Pick<TransformersOptions, 'task' | 'dtype' | 'options' | 'threads'>;
}

/**
 * Opens a transformers.js pipeline in the workers. An item is what the task is called with: a text, or a list of
 * arguments (`[text, labels]` for zero-shot-classification).
 * @throws MillraceError `runtime_missing`, `model_unsupported`, `resources_insufficient`
 */
export async function createTransformersHandler(parts: TransformersParts): Promise<ModelHandler<Json, Json>> {
  const { folder, pool } = parts;
  const { task, dtype, options } = parts.options;
  const service = pool.service(new URL('./service.js', import.meta.url), {
    task,
    dtype,
    options,
    threads: threadsOf(parts.options.threads, pool.size),
    folder: folder.path,
    subfolder: graphFolder([...folder.files.keys()]),
  } satisfies TransformersServiceOptions);
  try {
    await service.call('run', []);
  } catch (error) {
    await service.release();
    throw error;
  }
  const files = Object.fromEntries([...folder.files].map(([path, { sha256 }]) => [path, sha256]));
  const modelId = createHash('sha256')
    .update(canonicalJson({ task, dtype, options, files }))
    .digest('hex')
    .slice(0, 32);
  return {
    modelId,
    concurrency: pool.size,
    batching: { items: 8, cost: 8, costOf: () => 1, padded: false },
    async run(items, signal) {
      const results = await service.call<TransformersResult[]>('run', items, { signal });
      return { modelId, results: results.map((one) => ('error' in one ? fromWire(one.error) : one.value)) };
    },
    close: () => service.release(),
  };
}
