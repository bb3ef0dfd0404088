import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { onnxFiles, weightsDigest } from '../../../../src/inference/handlers/onnx/model-files.js';
import { onnxOptions } from '../../../../src/inference/handlers/onnx/options.js';
import { readSentenceSettings } from '../../../../src/inference/handlers/onnx/sentence-settings.js';
import { resolveLocalModel } from '../../../../src/inference/models/local-model.js';
import { tinyModelFiles, type TinyModel } from '../../../support/tiny-model.js';
import { writeFiles } from '../../../support/write-files.js';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function settingsOf(files: TinyModel['files'] = {}, options: object = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-settings-'));
  folders.push(folder);
  await writeFiles(folder, tinyModelFiles({ files }));
  const model = await resolveLocalModel(folder, (paths, name) => onnxFiles(paths, 'fp32', name).settings);
  return readSentenceSettings(model, onnxOptions.parse({ model: folder, ...options }));
}

const module = (idx: number, type: string) => ({
  idx,
  name: `${idx}`,
  path: idx === 0 ? '' : `${idx}_${type}`,
  type: `sentence_transformers.models.${type}`,
});

describe('the settings of a sentence-transformers model', () => {
  test('come from its files', async () => {
    expect(await settingsOf()).toEqual({
      pooling: 'mean',
      normalize: false,
      maxTokens: 8,
      prompts: { document: '', query: '' },
      notices: [],
    });
    const modules = [module(0, 'Transformer'), module(1, 'Pooling'), module(2, 'Normalize')];
    expect(await settingsOf({ 'modules.json': modules })).toMatchObject({ normalize: true });
  });

  test.each([
    [{ pooling_mode_mean_tokens: false, pooling_mode_cls_token: true }, 'cls'],
    [{ pooling_mode_max_tokens: true }, 'max'],
    [{ pooling_mode_lasttoken: true, pooling_mode_weightedmean_tokens: false }, 'last'],
    [{ embedding_dimension: 4, pooling_mode: 'lasttoken', include_prompt: true }, 'last'],
  ])('pool by %o', async (pooling, expected) => {
    expect(await settingsOf({ '1_Pooling/config.json': pooling })).toMatchObject({ pooling: expected });
  });

  test.each([
    [{ pooling_mode_mean_sqrt_len_tokens: true }, 'pooling_mode_mean_sqrt_len_tokens'],
    [{ pooling_mode: 'weightedmean' }, 'weightedmean'],
    [
      { pooling_mode_mean_tokens: true, pooling_mode_max_tokens: true },
      'pooling_mode_mean_tokens with pooling_mode_max_tokens',
    ],
    [{ pooling_mode_mean_tokens: true, include_prompt: false }, 'include_prompt'],
    [{}, 'none'],
  ])('refuse the pooling %o by name', async (pooling, named) => {
    await expect(settingsOf({ '1_Pooling/config.json': pooling })).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining(named),
    });
  });

  test('refuse a Dense module by name', async () => {
    const modules = [module(0, 'Transformer'), module(1, 'Pooling'), module(2, 'Dense')];
    await expect(settingsOf({ 'modules.json': modules })).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining('sentence_transformers.models.Dense'),
    });
  });

  test('refuse lower-casing that the tokenizer does not do', async () => {
    const files = {
      'sentence_bert_config.json': { do_lower_case: true },
      'tokenizer_config.json': { do_lower_case: false },
    };
    await expect(settingsOf(files)).rejects.toMatchObject({ code: 'model_unsupported' });
  });

  test('of a plain transformers export are assumed, with a notice', async () => {
    const plain = {
      'modules.json': undefined,
      '1_Pooling/config.json': undefined,
      'sentence_bert_config.json': undefined,
    };
    const settings = await settingsOf(plain);
    expect(settings).toMatchObject({ pooling: 'mean', normalize: true, maxTokens: 12 });
    expect(settings.notices).toMatchObject([{ level: 'warn', code: 'model_pooling_assumed' }]);
    expect(await settingsOf(plain, { pooling: 'cls' })).toMatchObject({ pooling: 'cls', notices: [] });
  });

  test('a pooling or modules file that is damaged or missing is model_corrupt and named', async () => {
    for (const [file, content] of [
      ['1_Pooling/config.json', undefined],
      ['1_Pooling/config.json', '{"pooling_mode_mean'],
      ['modules.json', { not: 'a list' }],
    ] as const) {
      await expect(settingsOf({ [file]: content })).rejects.toMatchObject({
        code: 'model_corrupt',
        message: expect.stringContaining(file),
      });
    }
  });
});

describe('the longest sequence', () => {
  const without = { 'sentence_bert_config.json': undefined };
  test('is what the model has positions for, when that is less than what its files name', async () => {
    expect(await settingsOf({ 'sentence_bert_config.json': { max_seq_length: 99 } })).toMatchObject({
      maxTokens: 12,
    });
    const roberta = { model_type: 'xlm-roberta', max_position_embeddings: 514, pad_token_id: 1 };
    const tokenizer = { model_max_length: 1e30 };
    expect(
      await settingsOf({ ...without, 'config.json': roberta, 'tokenizer_config.json': tokenizer }),
    ).toMatchObject({ maxTokens: 512 });
  });

  test('is 512 with a notice when nothing names it', async () => {
    const files = { ...without, 'config.json': {}, 'tokenizer_config.json': { model_max_length: 1e30 } };
    const settings = await settingsOf(files);
    expect(settings.maxTokens).toBe(512);
    expect(settings.notices).toMatchObject([{ code: 'model_length_assumed' }]);
  });

  test('can be chosen up to the positions of the model', async () => {
    expect(await settingsOf({}, { maxTokens: 12 })).toMatchObject({ maxTokens: 12 });
    await expect(settingsOf({}, { maxTokens: 13 })).rejects.toMatchObject({
      code: 'config_invalid',
      hint: expect.stringContaining('12'),
    });
  });
});

describe('prompts', () => {
  const file = (content: object) => ({ 'config_sentence_transformers.json': content });
  test('are taken by the names that sentence-transformers gives them', async () => {
    expect((await settingsOf(file({ prompts: { query: 'query: ', passage: 'passage: ' } }))).prompts).toEqual(
      { document: 'passage: ', query: 'query: ' },
    );
    expect(
      (await settingsOf(file({ prompts: { query: 'q ', document: 'd ', passage: 'p ' } }))).prompts,
    ).toEqual({ document: 'd ', query: 'q ' });
    expect(
      (await settingsOf(file({ prompts: { all: 'every ' }, default_prompt_name: 'all' }))).prompts,
    ).toEqual({ document: 'every ', query: 'every ' });
    expect((await settingsOf(file({ prompts: {}, default_prompt_name: null }))).prompts).toEqual({
      document: '',
      query: '',
    });
  });

  test('of the options come first, empty ones too', async () => {
    const prompts = { document: '', query: 'ask: ' };
    const files = file({ prompts: { query: 'query: ', passage: 'passage: ' } });
    expect((await settingsOf(files, { prompts })).prompts).toEqual(prompts);
  });
});

describe('the files of an export', () => {
  const paths = [
    'README.md',
    'tokenizer.json',
    'config.json',
    '1_Pooling/config.json',
    '0_Transformer/sentence_roberta_config.json',
    'onnx/model.onnx',
    'onnx/model.onnx_data',
    'onnx/model.onnx_data_1',
    'onnx/model_quantized.onnx',
    'model.onnx',
    'model.safetensors',
  ];

  test('are chosen by numeric type, with their external data', () => {
    expect(onnxFiles(paths, 'fp32', 'tiny')).toEqual({
      graph: 'onnx/model.onnx',
      data: ['onnx/model.onnx_data', 'onnx/model.onnx_data_1'],
      settings: [
        'tokenizer.json',
        'config.json',
        '1_Pooling/config.json',
        '0_Transformer/sentence_roberta_config.json',
      ],
    });
    expect(onnxFiles(paths, 'int8', 'tiny')).toMatchObject({ graph: 'onnx/model_quantized.onnx', data: [] });
    expect(onnxFiles(['tokenizer.json', 'model.onnx'], 'fp32', 'tiny').graph).toBe('model.onnx');
  });

  test('that are missing are named, with what there is instead', () => {
    expect(() => onnxFiles(paths, 'fp16', 'tiny')).toThrow(
      expect.objectContaining({
        code: 'model_unsupported',
        message: expect.stringMatching(/^The model tiny has no .*onnx\/model_fp16\.onnx/),
        hint: expect.stringContaining('onnx/model_quantized.onnx'),
      }),
    );
    expect(() => onnxFiles(['onnx/model.onnx'], 'fp32', 'tiny')).toThrow(
      expect.objectContaining({ message: 'The model tiny has no tokenizer.json' }),
    );
  });

  test('make one digest of the weights, whichever of them changes', () => {
    const files = onnxFiles(paths, 'fp32', 'tiny');
    const digests = (data: string) =>
      new Map(paths.map((path) => [path, { bytes: 1, sha256: path.endsWith('data_1') ? data : path }]));
    expect(weightsDigest(files, digests('a'))).toMatch(/^[0-9a-f]{64}$/);
    expect(weightsDigest(files, digests('a'))).not.toBe(weightsDigest(files, digests('b')));
    expect(weightsDigest(onnxFiles(paths, 'int8', 'tiny'), digests('a'))).toBe('onnx/model_quantized.onnx');
  });
});
