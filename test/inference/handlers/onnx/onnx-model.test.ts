import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notice } from '../../../../src/contracts/context.js';
import type { EmbeddingModel } from '../../../../src/contracts/embedding-model.js';
import { createOnnxModel } from '../../../../src/inference/handlers/onnx/create-onnx-model.js';
import { onnxOptions } from '../../../../src/inference/handlers/onnx/options.js';
import { resolveLocalModel } from '../../../../src/inference/models/local-model.js';
import { createWorkerPool, type WorkerPool } from '../../../../src/inference/workers/pool.js';
import { tinyModelFiles, tinyTable, tinyWords, type TinyModel } from '../../../support/tiny-model.js';
import { writeFiles } from '../../../support/write-files.js';

let root: string;
let pool: WorkerPool;
const notices: Notice[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-onnx-'));
  pool = createWorkerPool({ size: 1 });
});
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true, force: true });
});

async function open(tiny: TinyModel = {}, options: object = {}): Promise<EmbeddingModel> {
  const path = await mkdtemp(join(root, 'model-'));
  await writeFiles(path, tinyModelFiles(tiny));
  notices.length = 0;
  return createOnnxModel({
    folder: await resolveLocalModel(path, (paths) => paths, { name: 'tiny' }),
    pool,
    options: onnxOptions.parse({ model: path, ...options }),
    onNotice: (notice) => notices.push(notice),
  });
}

async function embed(
  model: EmbeddingModel,
  texts: readonly string[],
  role: 'document' | 'query' = 'document',
) {
  const { vectors } = await model.embed(
    texts.map((text) => ({ text })),
    role,
  );
  return vectors.map((vector) => [...vector]);
}

/** Vectors of the tokens of a sequence. */
const rows = (words: string) => words.split(' ').map((word) => tinyTable[tinyWords.indexOf(word)]!);
const mean = (words: string) =>
  [0, 1, 2, 3].map((at) =>
    Math.fround(rows(words).reduce((sum, row) => sum + row[at]!, 0) / rows(words).length),
  );

describe('an ONNX model', () => {
  test('gives the mean of its token vectors, special tokens included and padding never', async () => {
    const model = await open();
    expect(await embed(model, ['ants', 'Bees cows ants', 'bees'])).toEqual([
      mean('[CLS] ants [SEP]'),
      mean('[CLS] bees cows ants [SEP]'),
      mean('[CLS] bees [SEP]'),
    ]);
    expect(await embed(model, [])).toEqual([]);
    await model.close();
  });

  test.each([
    ['cls', rows('[CLS]')[0]],
    ['last', rows('[SEP]')[0]],
    ['max', [6, 36, -2, 1]],
  ])('pools by %s', async (pooling, expected) => {
    const model = await open({}, { pooling });
    const [alone] = await embed(model, ['cows']);
    const [padded] = await embed(model, ['cows', 'cows ants bees ants bees']);
    expect(alone).toEqual(expected);
    expect(padded).toEqual(expected);
    await model.close();
  });

  test('gives vectors of length 1 when its modules end with Normalize', async () => {
    const modules = ['Transformer', 'Pooling', 'Normalize'].map((type, idx) => ({
      path: idx === 1 ? '1_Pooling' : '',
      type: `sentence_transformers.models.${type}`,
    }));
    const model = await open({ files: { 'modules.json': modules } });
    const [vector] = await embed(model, ['ants']);
    const expected = mean('[CLS] ants [SEP]');
    const norm = Math.hypot(...expected);
    for (const [at, component] of vector!.entries()) expect(component).toBeCloseTo(expected[at]! / norm, 6);
    expect(model.identity.normalize).toBe(true);
    await model.close();
  });

  test('says what it is', async () => {
    const model = await open();
    expect(model.identity).toEqual({
      name: 'tiny',
      weights: expect.stringMatching(/^[0-9a-f]{64}$/),
      tokenizer: model.tokenizer!.digest,
      pooling: 'mean',
      normalize: false,
      prompts: { document: '', query: '' },
      width: 4,
      dtype: 'fp32',
    });
    expect(model).toMatchObject({ maxTokens: 6, batchInvariant: true, concurrency: 2 });
    await model.close();
  });

  test('takes token ids in place of a text, also as a view of a larger array', async () => {
    const model = await open();
    const ids = Int32Array.of(9, 9, 4, 5, 9, 9).subarray(2, 4);
    const {
      vectors: [vector],
    } = await model.embed([{ text: 'not looked at', ids }], 'document');
    expect([...vector!]).toEqual(mean('[CLS] ants bees [SEP]'));
    expect([...ids]).toEqual([4, 5]);
    await model.close();
  });

  test('puts the prompt of the role before each text, and keeps room for it', async () => {
    const prompts = { document: '', query: 'query: ' };
    const model = await open({}, { prompts });
    const ids = Int32Array.of(4);
    expect(await embed(model, ['ants'], 'query')).toEqual([mean('[CLS] query : ants [SEP]')]);
    const {
      vectors: [vector],
    } = await model.embed([{ text: 'ants', ids }], 'query');
    expect([...vector!]).toEqual(mean('[CLS] query : ants [SEP]'));
    expect(model).toMatchObject({ maxTokens: 6, identity: { prompts } });
    await model.close();

    const other = await open({}, { prompts: { document: 'query: ' } });
    expect(other.maxTokens).toBe(4);
    expect(await embed(other, ['ants'])).toEqual([mean('[CLS] query : ants [SEP]')]);
    await other.close();
    await expect(open({}, { prompts: { document: 'ants '.repeat(6) } })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });

  test('cuts a text that is too long before its end token, and says so', async () => {
    const model = await open({}, { pooling: 'last' });
    expect(notices).toMatchObject([{ level: 'info', code: 'model_threads' }]);
    notices.length = 0;
    const [vector] = await embed(model, ['ants bees cows ants bees cows cows cows', 'ants']);
    expect(vector).toEqual(rows('[SEP]')[0]);
    expect(notices).toMatchObject([{ level: 'warn', code: 'text_truncated' }]);
    expect(notices[0]?.message).toMatch(/^1 texts over 6 tokens/);
    await model.close();
  });

  test('is given positions, token types and 32-bit ids when its graph asks for them', async () => {
    const model = await open({
      inputs: ['position_ids', 'input_ids', 'token_type_ids', 'attention_mask'].map((name) => ({
        name,
        type: 'int32' as const,
      })),
      output: 'token_embeddings',
    });
    // The tiny graph looks up its first input: positions 0, 1, 2 of [CLS] ants [SEP].
    const [vector] = await embed(model, ['ants', 'ants bees']);
    expect(vector).toEqual(mean('[PAD] [UNK] [CLS]'));
    await model.close();
  });
});

describe('a model that cannot run', () => {
  const ids = { name: 'input_ids', type: 'int64' as const };
  test.each([
    [{ inputs: [ids, { name: 'past_key_values.0.key', type: 'float32' as const }] }, 'past_key_values.0.key'],
    [{ inputs: [ids, { name: 'attention_mask', type: 'float32' as const }] }, 'attention_mask'],
    [{ output: 'pooler_output' }, 'last_hidden_state'],
  ])('is refused when it is opened: %o', async (tiny, named) => {
    await expect(open(tiny)).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining(named),
    });
  });

  test('because its file is damaged is model_corrupt, and the worker goes on', async () => {
    const whole = tinyModelFiles()['onnx/model.onnx']!;
    const damaged = whole.subarray(0, whole.length / 2);
    await expect(open({ files: { 'onnx/model.onnx': damaged } })).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('model.onnx'),
    });
    const model = await open();
    expect(await embed(model, ['ants'])).toHaveLength(1);
    await model.close();
  });

  test('because its file is damaged names, of a copy, the file that people know', async () => {
    const path = await mkdtemp(join(root, 'model-'));
    await writeFiles(path, tinyModelFiles({ files: { 'onnx/model.onnx': Buffer.from('no graph') } }));
    const folder = { ...(await resolveLocalModel(path, (paths) => paths)), copyOf: '/models/mine' };
    const opening = createOnnxModel({ folder, pool, options: onnxOptions.parse({ model: path }) });
    await expect(opening).rejects.toMatchObject({
      code: 'model_corrupt',
      message: `onnxruntime cannot load ${join('/models/mine', 'onnx/model.onnx')}`,
    });
  });

  test('because its tokenizer wraps texts in an unknown way is model_unsupported', async () => {
    const tokenizer = JSON.parse(tinyModelFiles()['tokenizer.json']!.toString()) as object;
    const files = { 'tokenizer.json': { ...tokenizer, post_processor: { type: 'Magic' } } };
    await expect(open({ files })).rejects.toMatchObject({ code: 'model_unsupported' });
  });

  test('because its weights were replaced since it was found is model_corrupt', async () => {
    const path = await mkdtemp(join(root, 'model-'));
    await writeFiles(path, tinyModelFiles());
    const folder = await resolveLocalModel(path, (paths) => paths);
    await writeFiles(path, tinyModelFiles({ table: tinyTable.toReversed() }));
    const opening = createOnnxModel({ folder, pool, options: onnxOptions.parse({ model: path }) });
    await expect(opening).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('model.onnx'),
    });
  });

  test('because onnxruntime-node is not installed is runtime_missing, with the line that installs it', async () => {
    // The built package in a folder of its own, with everything it needs but the runtime.
    const app = await mkdtemp(join(root, 'app-'));
    const dist = fileURLToPath(new URL('../../../../../dist', import.meta.url));
    await cp(join(dist, 'src'), join(app, 'dist', 'src'), { recursive: true });
    await writeFile(join(app, 'package.json'), '{"type":"module"}');
    const scope = join(app, 'node_modules', '@huggingface');
    await mkdir(scope, { recursive: true });
    await symlink(join(dist, '../node_modules/zod'), join(app, 'node_modules', 'zod'));
    await symlink(join(dist, '../node_modules/@huggingface/tokenizers'), join(scope, 'tokenizers'));
    const path = join(app, 'model');
    await writeFiles(path, tinyModelFiles());
    const script = `
      const at = (path) => import('./dist/src/inference/' + path);
      const { createWorkerPool } = await at('workers/pool.js');
      const { createOnnxModel } = await at('handlers/onnx/create-onnx-model.js');
      const { onnxOptions } = await at('handlers/onnx/options.js');
      const { resolveLocalModel } = await at('models/local-model.js');
      const pool = createWorkerPool({ size: 1 });
      const folder = await resolveLocalModel('./model', (paths) => paths);
      await createOnnxModel({ folder, pool, options: onnxOptions.parse({ model: 'model' }) }).catch(
        ({ code, hint }) => console.log(JSON.stringify({ code, hint })),
      );
      await pool.close();`;
    await writeFile(join(app, 'open.js'), script);
    const { stdout } = await promisify(execFile)(process.execPath, ['open.js'], { cwd: app });
    expect(JSON.parse(stdout)).toEqual({
      code: 'runtime_missing',
      hint: expect.stringContaining('npm install onnxruntime-node@'),
    });
  });

  test('on one batch fails that batch as inference_failed', async () => {
    const model = await open();
    const outside = model.embed([{ text: '', ids: Int32Array.of(5000) }], 'document');
    await expect(outside).rejects.toMatchObject({ code: 'inference_failed' });
    expect(await embed(model, ['ants'])).toEqual([mean('[CLS] ants [SEP]')]);
    await model.close();
  });
});
