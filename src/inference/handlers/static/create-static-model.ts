import { join } from 'node:path';
import type {
  EmbeddingModel,
  EmbedText,
  ModelIdentity,
  TextRole,
} from '../../../contracts/embedding-model.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import { identityDigest } from '../../identity.js';
import { packIds } from '../../tokenizer/packed-ids.js';
import type { WorkerPool } from '../../workers/pool.js';
import type { StaticBatch, StaticServiceOptions } from './service.js';
import { readStaticSettings } from './static-settings.js';
import { readTokenVectors } from './token-vectors.js';

/** Where a static model's files are, and what they hash to. */
export interface StaticModelFolder {
  /** For people. */
  readonly name: string;
  /** Absolute path of a folder with `model.safetensors`, `tokenizer.json` and perhaps `config.json`, `modules.json`. */
  readonly path: string;
  readonly revision?: string;
  /** By name, of the first two at least: SHA-256, hex. */
  readonly files: ReadonlyMap<string, { readonly sha256: string }>;
}

export interface StaticModelOptions {
  readonly folder: StaticModelFolder;
  /** Stays open when the model is closed. */
  readonly pool: WorkerPool;
  /** Put before every text, by role; nothing by default. */
  readonly prompts?: { readonly document?: string | undefined; readonly query?: string | undefined };
}

const weightsFile = 'model.safetensors';
const tokenizerFile = 'tokenizer.json';

/**
 * Opens a model in the model2vec layout: a text's vector is the mean of its tokens' vectors. Nothing is truncated.
 * @throws MillraceError `model_not_found`, `model_corrupt`, `model_unsupported`
 */
export async function createStaticModel({
  folder,
  pool,
  prompts,
}: StaticModelOptions): Promise<EmbeddingModel> {
  const settings = await readStaticSettings(folder.path);
  const vectors = await readTokenVectors(join(folder.path, weightsFile));
  const { width, dtype } = vectors;
  const prompt = { document: prompts?.document ?? '', query: prompts?.query ?? '' };
  const tokenizer = { file: join(folder.path, tokenizerFile), digest: digestOf(folder, tokenizerFile) };
  const { normalize } = settings;
  const options: StaticServiceOptions = { tokenizer, vectors, normalize };
  const service = pool.service(new URL('./service.js', import.meta.url), options);

  let promptTokens: number;
  try {
    // Also the first use of the model: what is wrong with its files shows now, not at the first document.
    promptTokens = await service.call<number>('count', prompt.document);
  } catch (error) {
    await service.release();
    throw error;
  }

  const identity: ModelIdentity = {
    name: folder.name,
    weights: digestOf(folder, weightsFile),
    tokenizer: tokenizer.digest,
    ...(folder.revision === undefined ? {} : { revision: folder.revision }),
    pooling: 'mean',
    normalize,
    prompts: prompt,
    width,
    dtype,
  };
  const modelId = identityDigest(identity);

  async function embed(texts: readonly EmbedText[], role: TextRole, signal?: AbortSignal) {
    if (texts.length === 0) return { modelId, width, vectors: [] };
    const all = await service.call<Float32Array>('embed', batchOf(texts, prompt[role]), { signal });
    const vectors = texts.map((_, at) => all.subarray(at * width, (at + 1) * width));
    return { modelId, width, vectors };
  }

  return {
    identity,
    tokenizer,
    maxTokens: settings.maxTokens - promptTokens,
    batchInvariant: true,
    // A batch for each worker, and one that waits there.
    concurrency: pool.size * 2,
    // Nothing is padded; a batch is large enough that its messages cost little beside its work.
    batching: { padded: false, tokens: 32_768, texts: 1_024 },
    // A prompt may run into the text's first word: then a text has other tokens than its chunker saw.
    ...(prompt.document === '' && {
      inPlace: { module: new URL('./in-place.js', import.meta.url).href, options },
    }),
    embed,
    close: () => service.release(),
  };
}

/** Ids where every text has them; a prompt may run into the text's first word, so then the texts are tokenised again. */
function batchOf(texts: readonly EmbedText[], prompt: string): StaticBatch {
  const known = texts.flatMap(({ ids }) => (ids === undefined ? [] : [ids]));
  if (prompt !== '' || known.length < texts.length) return { texts: texts.map(({ text }) => prompt + text) };
  return packIds(known);
}

function digestOf({ name, files }: StaticModelFolder, file: string): string {
  const digest = files.get(file)?.sha256;
  if (digest === undefined) throw new MillraceError('model_not_found', `The model ${name} has no ${file}.`);
  return digest;
}
