import { join } from 'node:path';
import type { EmbeddingModel } from '../../src/contracts/embedding-model.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { loadEmbeddingModel } from '../../src/inference/load-model.js';
import { modelSpec } from '../../src/inference/model-spec.js';
import type { WorkerPool } from '../../src/inference/workers/pool.js';
import { minilmFolder } from '../../test/support/weights/minilm.js';

export interface OpenedModels {
  readonly bundled: EmbeddingModel;
  readonly minilm: EmbeddingModel | undefined;
}

/** Opens the models that are compared, from files alone. @throws MillraceError `model_not_found` without MiniLM's weights */
export async function openModels(
  root: string,
  pool: WorkerPool,
  withoutMinilm: boolean,
): Promise<OpenedModels> {
  const folder = withoutMinilm ? undefined : findMinilm(root);
  const open = (spec: object) =>
    loadEmbeddingModel(modelSpec.parse(spec), {
      pool,
      baseFolder: root,
      cacheFolder: join(root, '.cache', 'hub'),
      offline: true,
      onNotice: ({ level, message }) => {
        if (level === 'warn') process.stderr.write(`${message}\n`);
      },
    });
  return {
    bundled: await open({ static: { model: 'bundled' } }),
    minilm: folder === undefined ? undefined : await open({ onnx: { model: folder } }),
  };
}

function findMinilm(root: string): string {
  try {
    return minilmFolder(root);
  } catch (cause) {
    throw new MillraceError('model_not_found', (cause as Error).message, {
      cause,
      hint: 'Or leave it out: npm run eval -- --without minilm',
    });
  }
}
