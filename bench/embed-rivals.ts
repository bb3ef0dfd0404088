import { existsSync } from 'node:fs';
import { dirname, basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const rivals = ['transformers', 'langchain', 'fastembed'] as const;
export type Rival = (typeof rivals)[number];

export interface RivalOptions {
  /** The model's folder. */
  readonly folder: string;
  readonly dtype: 'fp32' | 'int8';
  /** Threads inside a batch. */
  readonly threads: number;
}

export type EmbedTexts = (texts: readonly string[]) => Promise<ArrayLike<number>[]>;

/** Texts of a call to transformers.js. */
const batchSize = 32;

/**
 * Another embedder on the same files, as its users call it. They live in a package of their own, so that nobody installs
 * them who does not measure.
 */
export function openRival(rival: Rival, options: RivalOptions): Promise<EmbedTexts> {
  switch (rival) {
    case 'transformers':
      return transformers(options);
    case 'langchain':
      return langchain(options);
    case 'fastembed':
      return fastembed(options);
    default:
      return rival satisfies never;
  }
}

type Extractor = (
  texts: readonly string[],
  options: { pooling: 'mean'; normalize: boolean },
) => Promise<{ data: Float32Array; dims: number[] }>;

interface Transformers {
  readonly env: { allowRemoteModels: boolean; localModelPath: string };
  pipeline(task: string, model: string, options: object): Promise<Extractor>;
}

async function transformers(options: RivalOptions): Promise<EmbedTexts> {
  const extract = await (
    await loadTransformers(options.folder)
  ).pipeline('feature-extraction', basename(options.folder), pipelineOptions(options));
  return async (texts) => {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += batchSize) {
      const { data, dims } = await extract(texts.slice(from, from + batchSize), {
        pooling: 'mean',
        normalize: true,
      });
      for (let row = 0; row < dims[0]!; row += 1)
        vectors.push(data.slice(row * dims[1]!, (row + 1) * dims[1]!));
    }
    return vectors;
  };
}

/** Its own batches are of 512 texts. */
async function langchain(options: RivalOptions): Promise<EmbedTexts> {
  await loadTransformers(options.folder);
  const { HuggingFaceTransformersEmbeddings } = (await load(
    '@langchain/community/embeddings/huggingface_transformers',
  )) as {
    HuggingFaceTransformersEmbeddings: new (fields: object) => {
      embedDocuments(texts: readonly string[]): Promise<number[][]>;
    };
  };
  const embeddings = new HuggingFaceTransformersEmbeddings({
    model: basename(options.folder),
    pretrainedOptions: pipelineOptions(options),
  });
  return (texts) => embeddings.embedDocuments(texts);
}

/** Its own batches are of 256 texts, each text padded to `maxLength`; it always uses all cores. */
async function fastembed({ folder, dtype }: RivalOptions): Promise<EmbedTexts> {
  const { FlagEmbedding } = (await load('fastembed')) as {
    FlagEmbedding: {
      init(options: object): Promise<{ embed(texts: readonly string[]): AsyncIterable<number[][]> }>;
    };
  };
  const model = await FlagEmbedding.init({
    model: 'custom',
    modelAbsoluteDirPath: folder,
    modelName: dtype === 'fp32' ? 'onnx/model.onnx' : 'onnx/model_quantized.onnx',
    maxLength: 256,
  });
  return async (texts) => {
    const vectors: number[][] = [];
    for await (const batch of model.embed(texts)) vectors.push(...batch);
    return vectors;
  };
}

async function loadTransformers(folder: string): Promise<Transformers> {
  const library = (await load('@huggingface/transformers')) as Transformers;
  library.env.allowRemoteModels = false;
  library.env.localModelPath = dirname(folder);
  return library;
}

function pipelineOptions({ dtype, threads }: RivalOptions) {
  return {
    dtype: dtype === 'fp32' ? 'fp32' : 'q8',
    session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 },
  };
}

async function load(name: string): Promise<unknown> {
  const home = join(process.cwd(), 'bench', 'rivals');
  if (!existsSync(join(home, 'node_modules')))
    throw new Error('The other embedders are not installed: run "npm ci --prefix bench/rivals" first.');
  // Resolved from there, by the rules of ES modules.
  const { load: importThere } = (await import(pathToFileURL(join(home, 'load.mjs')).href)) as {
    load(name: string): Promise<unknown>;
  };
  return importThere(name);
}
