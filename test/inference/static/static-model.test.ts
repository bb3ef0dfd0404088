import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.js';
import {
  createStaticModel,
  type StaticModelFolder,
  type StaticModelOptions,
} from '../../../src/inference/handlers/static/create-static-model.js';
import { halfFloats } from '../../../src/inference/handlers/static/half-floats.js';
import { createWorkerPool } from '../../../src/inference/workers/pool.js';
import { markdownTexts, paragraphs } from '../tokenizer/corpus.js';
import { tokenizerOf } from '../tokenizer/oracle.js';
import { bertFile } from '../tokenizer/tokenizer-files.js';
import type { TensorSpec } from './safetensors-file.js';
import { staticFolder } from './static-folder.js';

const markdown = markdownTexts(30);
const texts = paragraphs(markdown).slice(0, 200);
const file = bertFile(markdown);
const tokenizer = await tokenizerOf(file);
const tokens = tokenizer.vocabularySize;
const width = 37;

/** The same numbers at every run, from -1 to 1. */
const noise = (at: number) => ((Math.imul(at + 1, 0x9e3779b1) >>> 8) % 2001) / 1000 - 1;
const vector = (dtype: string, shape: number[], data: ArrayBufferView): TensorSpec => ({
  dtype,
  shape,
  data,
});
const int8 = vector(
  'I8',
  [tokens, width],
  Int8Array.from({ length: tokens * width }, (_, at) => noise(at) * 127),
);
const fp32 = vector(
  'F32',
  [tokens, width],
  Float32Array.from({ length: tokens * width }, (_, at) => noise(at)),
);
const weights = vector(
  'F32',
  [tokens],
  Float32Array.from({ length: tokens }, (_, at) => noise(at) + 1.5),
);

const pool = createWorkerPool({ size: 2 });
const open: EmbeddingModel[] = [];
const folders: StaticModelFolder[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
  for (const { path } of folders.splice(0)) rmSync(path, { recursive: true });
});
afterAll(() => pool.close());

async function model(
  tensors: Readonly<Record<string, TensorSpec>>,
  config?: Record<string, unknown>,
  prompts?: StaticModelOptions['prompts'],
) {
  const folder = staticFolder(file, tensors, config);
  folders.push(folder);
  const created = await createStaticModel({ folder, pool, ...(prompts === undefined ? {} : { prompts }) });
  open.push(created);
  return created;
}

/** model2vec's formula in the plainest form: the mean of the known tokens' rows times their weights, normalised. */
function plainMean(
  text: string,
  row: (token: number, component: number) => number,
  { weight = (_: number): number => 1, normalize = true } = {},
): number[] {
  const known = [...tokenizer.ids(text)].filter((id) => id !== tokenizer.unknownId);
  const mean = Array.from({ length: width }, (_, component) => {
    const sum = known.reduce((sum, id) => sum + row(id, component) * weight(id), 0);
    return sum / known.length;
  });
  const norm = normalize ? Math.sqrt(mean.reduce((sum, value) => sum + value * value, 0)) : 1;
  return mean.map((value) => value / norm);
}

function expectClose(actual: Float32Array, expected: readonly number[]) {
  const scale = Math.max(...expected.map(Math.abs));
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, at) => expect(Math.abs(actual[at]! - value)).toBeLessThan(1e-5 * scale));
}

const at = (spec: TensorSpec) => spec.data as unknown as ArrayLike<number>;
const rowOf = (spec: TensorSpec) => (token: number, component: number) =>
  at(spec)[token * width + component]!;

describe('the static handler', () => {
  it('gives the weighted mean of int8 rows, normalised', async () => {
    const { embed, identity } = await model({ embeddings: int8, weights });
    const { vectors } = await embed(
      texts.map((text) => ({ text })),
      'document',
    );
    vectors.forEach((vector, index) =>
      expectClose(vector, plainMean(texts[index]!, rowOf(int8), { weight: (id) => at(weights)[id]! })),
    );
    expect(identity).toMatchObject({ width, dtype: 'int8', pooling: 'mean', normalize: true });
  });

  it('leaves vectors as long as they are where the model says so', async () => {
    const { embed, identity } = await model({ 'embedding.weight': fp32 }, { normalize: false });
    const { vectors } = await embed(
      texts.map((text) => ({ text })),
      'query',
    );
    vectors.forEach((vector, index) =>
      expectClose(vector, plainMean(texts[index]!, rowOf(fp32), { normalize: false })),
    );
    expect(identity.normalize).toBe(false);
  });

  it('reads 16-bit floats of both kinds', async () => {
    const codes = Uint16Array.from({ length: tokens * width }, (_, at) => {
      // Any code but infinities, NaN and the very large.
      const code = Math.imul(at + 7, 0x9e3779b1) >>> 16;
      return (code & 0x83ff) | (((code >> 10) % 16) << 10);
    });
    const half = halfFloats();
    const halfModel = await model({ embeddings: vector('F16', [tokens, width], codes) });
    const brain = Uint16Array.from({ length: tokens * width }, (_, at) => {
      return new Uint32Array(Float32Array.of(noise(at)).buffer)[0]! >>> 16;
    });
    const brainModel = await model({ embeddings: vector('BF16', [tokens, width], brain) });
    const brainValue = (code: number) => new Float32Array(Uint32Array.of(code << 16).buffer)[0]!;
    for (const text of texts.slice(0, 20)) {
      const {
        vectors: [a],
      } = await halfModel.embed([{ text }], 'document');
      expectClose(
        a!,
        plainMean(text, (token, component) => half[codes[token * width + component]!]!),
      );
      const {
        vectors: [b],
      } = await brainModel.embed([{ text }], 'document');
      expectClose(
        b!,
        plainMean(text, (token, component) => brainValue(brain[token * width + component]!)),
      );
    }
    expect([half[0x3c00], half[0xc000], half[0x0001], half[0x7bff]]).toEqual([1, -2, 2 ** -24, 65504]);
  });

  it('follows a mapping from tokens to shared rows', async () => {
    const rows = 50;
    const mapping = BigInt64Array.from({ length: tokens }, (_, at) => BigInt((at * 7) % rows));
    const few = vector('I8', [rows, width], (int8.data as Int8Array).slice(0, rows * width));
    const { embed } = await model({ embeddings: few, mapping: vector('I64', [tokens], mapping), weights });
    for (const text of texts.slice(0, 20)) {
      const {
        vectors: [vector],
      } = await embed([{ text }], 'document');
      const row = (token: number, component: number) => rowOf(few)(Number(mapping[token]), component);
      expectClose(vector!, plainMean(text, row, { weight: (id) => at(weights)[id]! }));
    }
  });

  it('gives the same bits for a text in any batch, and from its ids', async () => {
    const { embed, batchInvariant } = await model({ embeddings: int8, weights });
    expect(batchInvariant).toBe(true);
    const alone: Float32Array[] = [];
    for (const text of texts) alone.push(...(await embed([{ text }], 'document')).vectors);
    for (const size of [7, 64, texts.length])
      for (let from = 0; from < texts.length; from += size) {
        const part = texts.slice(from, from + size).map((text) => ({ text, ids: tokenizer.ids(text) }));
        const { vectors } = await embed(size === 64 ? part : part.map(({ text }) => ({ text })), 'document');
        expect(vectors.map((vector) => [...vector])).toEqual(
          alone.slice(from, from + size).map((vector) => [...vector]),
        );
      }
  });

  it('puts the prompt of the role before a text, also when its ids are known', async () => {
    const { embed, maxTokens } = await model(
      { embeddings: int8 },
      { normalize: true, max_length: 100 },
      {
        document: 'passage: ',
      },
    );
    const text = 'words about water';
    const {
      vectors: [prompted],
    } = await embed([{ text, ids: tokenizer.ids(text) }], 'document');
    expectClose(prompted!, plainMean(`passage: ${text}`, rowOf(int8)));
    const {
      vectors: [plain],
    } = await embed([{ text, ids: tokenizer.ids(text) }], 'query');
    expectClose(plain!, plainMean(text, rowOf(int8)));
    expect(maxTokens).toBe(100 - tokenizer.ids('passage: ').length);
  });

  it('gives a text of unknown characters the vector of the unknown token, never a zero one', async () => {
    const { embed } = await model({ embeddings: int8, weights });
    const {
      vectors: [emoji, other],
    } = await embed([{ text: '🦩' }, { text: '🦚 🦩' }], 'document');
    const row = Array.from({ length: width }, (_, component) => rowOf(int8)(tokenizer.unknownId!, component));
    const norm = Math.hypot(...row);
    expectClose(
      emoji!,
      row.map((value) => value / norm),
    );
    expect([...other!]).toEqual([...emoji!]);
  });

  it('falls back to a fixed vector of length 1 where the unknown token has none', async () => {
    const data = (int8.data as Int8Array).slice();
    data.fill(0, tokenizer.unknownId! * width, (tokenizer.unknownId! + 1) * width);
    const { embed } = await model({ embeddings: vector('I8', [tokens, width], data) });
    const {
      vectors: [emoji, nothing],
    } = await embed([{ text: '🦩' }, { text: '\u200b' }], 'document');
    expect(Math.hypot(...emoji!)).toBeCloseTo(1, 5);
    expect([...nothing!]).toEqual([...emoji!]);
  });

  it('refuses a model whose tokenizer has more tokens than it has vectors', async () => {
    const few = vector('I8', [tokens - 1, width], (int8.data as Int8Array).slice(width));
    await expect(model({ embeddings: few })).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('model.safetensors') as unknown,
    });
  });

  it('refuses a tokenizer that changed after the model was described', async () => {
    const folder = staticFolder(file, { embeddings: int8 });
    folders.push(folder);
    writeFileSync(join(folder.path, 'tokenizer.json'), JSON.stringify({ ...file, version: '1.1' }));
    await expect(createStaticModel({ folder, pool })).rejects.toMatchObject({ code: 'model_corrupt' });
  });

  it.each([
    ['no embeddings', { weights }, 'model_unsupported'],
    ['64-bit embeddings', { embeddings: vector('F64', [1, 1], Float64Array.of(1)) }, 'model_unsupported'],
    ['flat embeddings', { embeddings: vector('I8', [3], Int8Array.of(1, 2, 3)) }, 'model_corrupt'],
    [
      'too few weights',
      { embeddings: int8, weights: vector('F32', [2], Float32Array.of(1, 1)) },
      'model_corrupt',
    ],
    [
      'a weight that is no number',
      { embeddings: int8, weights: { ...weights, data: new Float32Array(tokens).fill(NaN) } },
      'model_corrupt',
    ],
    [
      'a mapping to rows that are not there',
      { embeddings: int8, mapping: vector('I32', [1], Int32Array.of(tokens)) },
      'model_corrupt',
    ],
  ])('refuses a file with %s', async (_, tensors, code) => {
    await expect(model(tensors)).rejects.toMatchObject({ code });
  });
});
