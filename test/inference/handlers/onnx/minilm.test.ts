import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notice } from '../../../../src/contracts/context.js';
import type { EmbeddingModel } from '../../../../src/contracts/embedding-model.js';
import { createOnnxModel } from '../../../../src/inference/handlers/onnx/create-onnx-model.js';
import { onnxFiles } from '../../../../src/inference/handlers/onnx/model-files.js';
import { onnxOptions, type OnnxOptions } from '../../../../src/inference/handlers/onnx/options.js';
import { resolveLocalModel } from '../../../../src/inference/models/local-model.js';
import { createWorkerPool, type WorkerPool } from '../../../../src/inference/workers/pool.js';
import { readmeParagraphs } from '../../../support/readme-paragraphs.js';
import { minilmFolder } from '../../../support/weights/minilm.js';

let pool: WorkerPool;
const notices: Notice[] = [];
const models = new Map<string, EmbeddingModel>();

beforeAll(() => {
  pool = createWorkerPool({ size: 2 });
});
afterAll(() => pool.close());

/** MiniLM with its own settings, but for up to 512 tokens as transformers.js takes it; opened once a dtype. */
async function minilm(dtype: OnnxOptions['dtype'] = 'fp32'): Promise<EmbeddingModel> {
  const path = minilmFolder();
  const select = (paths: readonly string[]) => {
    const { graph, settings } = onnxFiles(paths, dtype, path);
    return [graph, ...settings];
  };
  const model =
    models.get(dtype) ??
    (await createOnnxModel({
      folder: await resolveLocalModel(path, select),
      pool,
      options: onnxOptions.parse({ model: path, dtype, maxTokens: 512 }),
      onNotice: (notice) => notices.push(notice),
    }));
  models.set(dtype, model);
  return model;
}

async function embedAll(
  model: EmbeddingModel,
  texts: readonly string[],
  batch: number,
): Promise<Float32Array[]> {
  const batches = [];
  for (let from = 0; from < texts.length; from += batch) {
    const part = texts.slice(from, from + batch).map((text) => ({ text }));
    batches.push(model.embed(part, 'document'));
  }
  return (await Promise.all(batches)).flatMap(({ vectors }) => vectors);
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, component, at) => sum + component * b[at]!, 0);
}

const sameBits = (a: Float32Array, b: Float32Array) =>
  Buffer.from(a.slice().buffer).equals(Buffer.from(b.slice().buffer));

/** 1,000 real texts, most of them short; 12 have 257 to 512 tokens. */
function thousandTexts(tokensOf: (text: string) => number): string[] {
  // The pipeline takes a spelled-out special token for the token itself; here it is ordinary text.
  const paragraphs = readmeParagraphs().filter((text) => !/\[(CLS|SEP|PAD|UNK|MASK)\]/.test(text));
  // Over 512 tokens it cuts off the end token, which is kept here.
  const long = paragraphs.filter((text) => {
    if (text.length < 600 || text.length > 3000) return false;
    const tokens = tokensOf(text);
    return tokens > 256 && tokens <= 512;
  });
  const short = paragraphs.filter(({ length }) => length < 90);
  const medium = paragraphs.filter(({ length }) => length >= 90 && length < 600);
  const evenly = (texts: readonly string[], count: number) =>
    Array.from({ length: count }, (_, at) => texts[Math.floor((at * texts.length) / count)]!);
  const texts = [...evenly(short, 900), ...evenly(medium, 88), ...evenly(long, 12)];
  expect(new Set(texts).size).toBe(1000);
  return texts;
}

describe('MiniLM in fp32', () => {
  test('equals the feature-extraction pipeline of transformers.js on 1,000 real texts, whatever the batch', async () => {
    const { env, pipeline } = await import('@xenova/transformers');
    env.allowRemoteModels = false;
    const [, folder, name] = /^(.*)\/([^/]+)$/.exec(minilmFolder())!;
    env.localModelPath = folder!;
    const extract = await pipeline('feature-extraction', name!, { dtype: 'fp32' });
    const texts = thousandTexts((text) => {
      const { input_ids } = extract.tokenizer(text) as { input_ids: { dims: number[] } };
      return input_ids.dims[1]!;
    });
    const model = await minilm();

    const expected: Float32Array[] = [];
    for (const text of texts) {
      const { data } = await extract(text, { pooling: 'mean', normalize: true });
      expected.push(Float32Array.from(data as Float32Array));
    }
    await extract.dispose();
    for (const batch of [1, 7, 64]) {
      const found = await embedAll(model, texts, batch);
      expect(found).toHaveLength(1000);
      let furthest = 0;
      for (const [text, vector] of found.entries()) {
        expect(vector).toHaveLength(384);
        for (let at = 0; at < 384; at++) {
          const distance = Math.abs(vector[at]! - expected[text]![at]!);
          // Written so that a NaN counts as far.
          if (!(distance <= furthest)) furthest = distance;
        }
      }
      expect(furthest, `batches of ${batch}`).toBeLessThan(1e-4);
    }
  }, 180_000);

  test('gives a text the same vector, to the last bit, alone and in any batch', async () => {
    const model = await minilm();
    expect(model.batchInvariant).toBe(true);
    const texts = readmeParagraphs()
      .filter(({ length }) => length < 600)
      .filter((_, at) => at % 97 === 0)
      .slice(0, 31);
    texts.splice(20, 0, 'hello', 'word '.repeat(500));
    const alone = await embedAll(model, texts, 1);
    for (const batch of [7, 64]) {
      const together = await embedAll(model, texts, batch);
      expect(together.every((vector, at) => sameBits(vector, alone[at]!))).toBe(true);
    }
  }, 60_000);

  test.each([509, 510, 511, 2000])(
    'takes a text of %i tokens: what is over the limit is cut before the end token, and reported',
    async (tokens) => {
      const model = await minilm();
      expect(model.maxTokens).toBe(510);
      notices.length = 0;
      const text = 'word '.repeat(tokens);
      const [
        {
          vectors: [vector],
        },
        {
          vectors: [longest],
        },
      ] = await Promise.all([
        model.embed([{ text }], 'document'),
        model.embed([{ text: '', ids: new Int32Array(510).fill(2773) }], 'document'),
      ]);
      // 2773 is "word": a cut text is the longest one, neither more nor less.
      expect(sameBits(vector!, longest!)).toBe(tokens >= 510);
      expect(notices.map(({ code }) => code)).toEqual(tokens > 510 ? ['text_truncated'] : []);
    },
  );

  test('stays whole when its worker is busy with many callers', async () => {
    const model = await minilm();
    const texts = ['ants', 'bees', 'cows', 'dogs'];
    const alone = await embedAll(model, texts, 1);
    const rounds = await Promise.all(Array.from({ length: 8 }, () => embedAll(model, texts, 2)));
    for (const round of rounds) expect(round.every((vector, at) => sameBits(vector, alone[at]!))).toBe(true);
  });
});

describe('MiniLM in int8', () => {
  test('stays near its fp32 vectors, and near itself in any batch, but does not promise the same bits', async () => {
    const texts = readmeParagraphs()
      .filter(({ length }) => length > 20 && length < 400)
      .filter((_, at) => at % 101 === 0)
      .slice(0, 60);
    const int8 = await minilm('int8');
    expect(int8.batchInvariant).toBe(false);
    expect(int8.identity.dtype).toBe('int8');
    const [exact, alone, together] = await Promise.all([
      embedAll(await minilm(), texts, 16),
      embedAll(int8, texts, 1),
      embedAll(int8, texts, 16),
    ]);
    const least = (a: Float32Array[], b: Float32Array[]) =>
      Math.min(...a.map((vector, at) => cosine(vector, b[at]!)));
    expect(least(alone, exact)).toBeGreaterThan(0.95);
    expect(least(alone, together)).toBeGreaterThan(0.97);
    expect(alone.every((vector, at) => sameBits(vector, together[at]!))).toBe(false);
  }, 30_000);
});
