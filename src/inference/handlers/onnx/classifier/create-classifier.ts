import { join } from 'node:path';
import { createHash } from 'node:crypto';
import type { Notice } from '../../../../contracts/context.js';
import type { ModelHandler } from '../../../../contracts/model-handler.js';
import { canonicalJson } from '../../../../elements/canonical-json.js';
import type { Json } from '../../../../elements/metadata.js';
import { MillraceError } from '../../../../errors/millrace-error.js';
import type { ModelFolder } from '../../../models/model-folder.js';
import type { WorkerPool } from '../../../workers/pool.js';
import { weightsFiles } from '../weights-file.js';
import { onnxFiles, weightsBytes, weightsDigest } from '../model-files.js';
import { openPlace } from '../place.js';
import { readSentenceSettings } from '../sentence-settings.js';
import { readLabelSettings } from './label-settings.js';
import { labelScores } from './label-scores.js';
import type { ClassifierOptions } from './options.js';
import type { ClassifierServiceOptions, Logits } from './service.js';

export interface ClassifierParts {
  readonly folder: ModelFolder;
  readonly pool: WorkerPool;
  readonly options: Omit<ClassifierOptions, 'model' | 'revision'>;
  /** Hears of texts that were cut (`text_truncated`). */
  onNotice?(notice: Notice): void;
}

/** Characters of a token, on average: batches are filled by what texts will be padded to. */
const charactersPerToken = 4;

/**
 * Opens a text classification export and runs it once, so that a model that cannot run fails here.
 * @throws MillraceError `runtime_missing`, `device_unavailable`, `resources_insufficient`, `model_unsupported`,
 * `model_corrupt`, `config_invalid`, `inference_failed`
 */
export async function createClassifier(parts: ClassifierParts): Promise<ModelHandler<Json, Json>> {
  const { folder, pool, options, onNotice } = parts;
  const files = onnxFiles([...folder.files.keys()], options.dtype, folder.name);
  const settings = await readLabelSettings(folder);
  const { maxTokens, notices } = await readSentenceSettings(folder, {
    pooling: 'mean',
    prompts: {},
    maxTokens: options.maxTokens,
  });
  for (const notice of notices) onNotice?.(notice);
  const tokenizer = {
    file: join(folder.path, 'tokenizer.json'),
    digest: folder.files.get('tokenizer.json')!.sha256,
  };
  const weights = weightsFiles(files, folder);
  const { place, description: found } = await openPlace<number>(
    {
      model: folder.name,
      bytes: weightsBytes(files, folder.files),
      pool,
      options,
      module: new URL('./service.js', import.meta.url),
      serviceOptions: (session): ClassifierServiceOptions => ({ weights, tokenizer, maxTokens, session }),
      onNotice,
    },
    'word',
  );
  if (found !== settings.labels.length) {
    await place.close();
    throw new MillraceError(
      'model_corrupt',
      `The model ${folder.name} gives ${found} scores, its config.json names ${settings.labels.length} labels`,
    );
  }
  const { threshold, scores, dtype } = options;
  const decisive = { weights: weightsDigest(files, folder.files), tokenizer: tokenizer.digest, dtype };
  const modelId = digestOf({ ...decisive, maxTokens, threshold, scores, labels: settings.labels });

  async function classify(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { logits, labels, truncated } = await place.call<Logits>('classify', texts, signal);
    if (truncated > 0)
      onNotice?.({
        level: 'warn',
        code: 'text_truncated',
        message: `${truncated} texts over ${maxTokens} tokens were cut by model ${folder.name}.`,
      });
    return texts.map((_, row) => logits.subarray(row * labels, (row + 1) * labels));
  }

  return {
    modelId,
    concurrency: place.concurrency,
    batching: {
      items: 128,
      cost: 2_048,
      padded: true,
      costOf: (item) =>
        Math.min(maxTokens, Math.ceil(typeof item === 'string' ? item.length / charactersPerToken : 0) + 2),
    },
    async run(items, signal) {
      const texts = items.flatMap((item) => (typeof item === 'string' ? [item] : []));
      const rows = (texts.length === 0 ? [] : await classify(texts, signal)).values();
      const results = items.map((item) => {
        if (typeof item !== 'string') return notText(item);
        const logits = rows.next().value!;
        if (logits.every(Number.isFinite)) return labelScores(logits, settings, { threshold, scores });
        return new MillraceError('inference_failed', 'The model gave a score that is not a finite number.');
      });
      return { modelId, results };
    },
    close: () => place.close(),
  };
}

function notText(item: Json): MillraceError {
  const kind = item === null ? 'null' : Array.isArray(item) ? 'a list' : typeof item;
  return new MillraceError('inference_failed', `A classification model reads a text, not ${kind}.`, {
    hint: 'Make a text of the field in `preprocess`.',
  });
}

function digestOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 32);
}
