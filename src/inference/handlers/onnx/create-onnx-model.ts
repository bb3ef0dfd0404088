import { join } from 'node:path';
import type { Notice } from '../../../contracts/context.js';
import type {
  Batching,
  EmbeddingModel,
  EmbedText,
  ModelIdentity,
  TextRole,
} from '../../../contracts/embedding-model.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import { withOptions } from '../../batching-options.js';
import { identityDigest } from '../../identity.js';
import type { ModelFolder } from '../../models/model-folder.js';
import type { WorkerPool } from '../../workers/pool.js';
import { unpackIds, type PackedIds } from '../../tokenizer/packed-ids.js';
import { weightsFiles } from './weights-file.js';
import { onnxFiles, weightsBytes, weightsDigest } from './model-files.js';
import type { OnnxOptions } from './options.js';
import { packTexts, type TextOrIds } from './packed-texts.js';
import { openPlace } from './place.js';
import { readSentenceSettings } from './sentence-settings.js';
import type { OnnxDescription, OnnxServiceOptions, OnnxVectors } from './service.js';

export interface OnnxModelParts {
  readonly folder: ModelFolder;
  /** Each of its workers loads the model at its first batch, unless the model has workers of its own. */
  readonly pool: WorkerPool;
  readonly options: Omit<OnnxOptions, 'model' | 'revision'>;
  /** Hears of threads, of what the model's files did not say, and of texts that were cut (`text_truncated`). */
  onNotice?(notice: Notice): void;
}

/** Measured on MiniLM: best is 256 to 512 tokens; at 1,024 it is some 8 % slower, out of the cache of a core. */
const cpuBatching: Batching = {
  padded: true,
  tokens: 448,
  texts: 256,
  minTokens: 128,
  maxTokens: 4_096,
  shareTokens: 128,
  mostPadding: 0.2,
};
/** Not measured: large enough that a GPU is not idle between two. */
const gpuBatching: Batching = {
  padded: true,
  tokens: 16_384,
  texts: 1_024,
  minTokens: 2_048,
  maxTokens: 131_072,
};

/**
 * Opens a sentence-transformers ONNX export and embeds one text with it, so that a model that cannot run fails here.
 * @throws MillraceError `runtime_missing`, `device_unavailable`, `resources_insufficient`, `model_unsupported`,
 * `model_corrupt`, `config_invalid`, `inference_failed`
 */
export async function createOnnxModel(parts: OnnxModelParts): Promise<EmbeddingModel> {
  const { folder, pool, options, onNotice } = parts;
  const files = onnxFiles([...folder.files.keys()], options.dtype, folder.name);
  const settings = await readSentenceSettings(folder, options);
  for (const notice of settings.notices) onNotice?.(notice);
  const { pooling, normalize, prompts } = settings;
  const tokenizer = {
    file: join(folder.path, 'tokenizer.json'),
    digest: folder.files.get('tokenizer.json')!.sha256,
  };
  const weights = weightsFiles(files, folder);
  const { place, description } = await openPlace<OnnxDescription>(
    {
      model: folder.name,
      bytes: weightsBytes(files, folder.files),
      pool,
      options,
      module: new URL('./service.js', import.meta.url),
      serviceOptions: (session): OnnxServiceOptions => ({
        weights,
        tokenizer,
        pooling,
        normalize,
        maxTokens: settings.maxTokens,
        session,
      }),
      onNotice,
    },
    prompts.document,
  );
  try {
    const { width, specialTokens, promptTokens, batchInvariant } = description;
    const maxTokens = settings.maxTokens - specialTokens - promptTokens;
    if (maxTokens < 1) {
      throw new MillraceError(
        'config_invalid',
        `The document prompt leaves no room for text: the model ${folder.name} takes ${settings.maxTokens} tokens`,
        { hint: 'Shorten the prompt, or raise maxTokens.' },
      );
    }
    onNotice?.({
      level: 'info',
      code: 'model_threads',
      message: `Model ${folder.name} runs in ${place.summary}.`,
    });
    const identity: ModelIdentity = {
      name: folder.name,
      weights: weightsDigest(files, folder.files),
      tokenizer: tokenizer.digest,
      ...(folder.revision === undefined ? {} : { revision: folder.revision }),
      pooling,
      normalize,
      prompts,
      width,
      dtype: options.dtype,
    };
    const modelId = identityDigest(identity);
    return {
      identity,
      tokenizer,
      maxTokens,
      // int8 activations are scaled by the largest value of the whole batch.
      batchInvariant: options.dtype === 'fp32' && batchInvariant,
      concurrency: place.concurrency,
      batching: withOptions(place.device === 'cpu' ? cpuBatching : gpuBatching, options.batching),
      async embed(texts, role, signal) {
        if (texts.length === 0) return { modelId, width, vectors: [] };
        const payload = packTexts(texts.map((text) => withPrompt(text, prompts[role])));
        const answer = await place.call<OnnxVectors>('embed', payload, signal);
        const { vectors, truncated, ms, tokens, paddedTokens } = answer;
        if (truncated > 0) onNotice?.(cut(truncated, role, maxTokens));
        // Each has its own memory: a view that is sent to another thread would take the whole batch along.
        const rows = texts.map((_, row) => vectors.slice(row * width, (row + 1) * width));
        return { modelId, width, vectors: rows, ms, tokens, paddedTokens };
      },
      async tokenize(texts, signal) {
        return unpackIds(await place.call<PackedIds>('tokenize', texts, signal));
      },
      close: () => place.close(),
    };
  } catch (error) {
    await place.close();
    throw error;
  }

  function cut(texts: number, role: TextRole, maxTokens: number): Notice {
    const message = `${texts} ${role === 'query' ? 'queries' : 'texts'} over ${maxTokens} tokens were cut by model ${folder.name}.`;
    return { level: 'warn', code: 'text_truncated', message };
  }
}

/** With a prompt the two are tokenised as one: whether ids may be joined depends on the tokenizer. */
function withPrompt({ text, ids }: EmbedText, prompt: string): TextOrIds {
  return prompt !== '' || ids === undefined ? prompt + text : ids;
}
