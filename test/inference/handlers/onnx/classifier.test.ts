import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notice } from '../../../../src/contracts/context.js';
import type { Json } from '../../../../src/elements/metadata.js';
import { loadHandler } from '../../../../src/inference/load-handler.js';
import { handlerSpec } from '../../../../src/inference/handler-spec.js';
import { availableCores } from '../../../../src/inference/workers/cores.js';
import { createWorkerPool, type WorkerPool } from '../../../../src/inference/workers/pool.js';
import { tinyClassifierFiles } from '../../../support/tiny-classifier.js';
import { writeFiles } from '../../../support/write-files.js';

let root: string;
let pool: WorkerPool;
const notices: Notice[] = [];
const signal = new AbortController().signal;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-classifier-'));
  pool = createWorkerPool({ size: 1 });
});
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true, force: true });
});

async function open(spec: object, files: Parameters<typeof tinyClassifierFiles>[0] = {}) {
  const path = await mkdtemp(join(root, 'model-'));
  await writeFiles(path, tinyClassifierFiles(files));
  notices.length = 0;
  const [handler, options] = Object.entries(spec)[0]!;
  return loadHandler(handlerSpec.parse({ [handler]: { model: path, ...options } }), {
    pool,
    baseFolder: root,
    cacheFolder: root,
    offline: true,
    onNotice: (notice) => notices.push(notice),
  });
}

/** `{ label, score }` with the score rounded as far as two runtimes agree. */
function rounded(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toFixed(5)) : value,
  );
}

const texts = ['ants', 'bees', 'cows cows', 'ants bees'];

test('labels and scores are those of transformers.js on the same files', async () => {
  const ours = await open({ onnx: {} });
  const theirs = await open({ transformers: { task: 'text-classification' } });
  // Alone: the tiny graph takes the mean over padding too.
  for (const text of texts) {
    const [own] = (await ours.run([text], signal)).results;
    const [reference] = (await theirs.run([text], signal)).results;
    expect(rounded([own])).toEqual(rounded(reference));
  }
  expect(ours.modelId).not.toBe(theirs.modelId);
  await ours.close();
  await theirs.close();
});

test('scores of all labels are given on request, and sum to 1 where one label holds', async () => {
  const model = await open({ onnx: { scores: true } });
  const { results } = await model.run(['ants'], signal);
  const { label, score, scores } = results[0] as { label: string; score: number; scores: object };
  expect(Object.keys(scores).sort()).toEqual(['calm', 'loud', 'neutral', 'sad']);
  expect(Object.values(scores).reduce((sum: number, one: number) => sum + one, 0)).toBeCloseTo(1, 6);
  expect(score).toBe(Math.max(...(Object.values(scores) as number[])));
  expect(Object.entries(scores).find(([, one]) => one === score)![0]).toBe(label);
  await model.close();
});

test('a model for several labels gives each from the threshold on', async () => {
  const model = await open(
    { onnx: { threshold: 0.9 } },
    { config: { problem_type: 'multi_label_classification' } },
  );
  const [result] = (await model.run(['cows'], signal)).results;
  // The logits of [CLS] cows [SEP] are (11/3, 49/3, -11/3, 1): sigmoid 0.975, 1, 0.025, 0.73.
  expect(result).toMatchObject({ label: 'loud', labels: ['loud', 'calm'] });
  await model.close();
});

test('a regression model gives its number', async () => {
  const config = { problem_type: 'regression', id2label: { 0: 'LABEL_0' } };
  const model = await open({ onnx: {} }, { config, width: 1 });
  const { results, modelId } = await model.run(['cows'], signal);
  expect(rounded(results)).toEqual([{ value: Number((11 / 3).toFixed(5)) }]);
  expect(modelId).toBe(model.modelId);
  await model.close();
});

test('what is no text fails alone, and a text over the limit is cut with a notice', async () => {
  const model = await open({ onnx: {} });
  const long = Array.from({ length: 30 }, () => 'ants').join(' ');
  const { results } = await model.run(['ants', 7, null, long] as Json[], signal);
  expect(results.map((one) => (one instanceof Error ? one.message : 'ok'))).toEqual([
    'ok',
    'A classification model reads a text, not number.',
    'A classification model reads a text, not null.',
    'ok',
  ]);
  expect(notices).toMatchObject([{ code: 'text_truncated' }]);
  await model.close();
});

test('a model without names for its labels, or with another number of them, is refused when it is opened', async () => {
  await expect(open({ onnx: {} }, { config: { id2label: undefined } })).rejects.toMatchObject({
    code: 'model_unsupported',
  });
  await expect(open({ onnx: {} }, { config: { id2label: { 0: 'a', 1: 'b' } } })).rejects.toMatchObject({
    code: 'model_corrupt',
  });
});

test('another threshold, or other labels, is another model', async () => {
  const ids = await Promise.all(
    [
      open({ onnx: {} }),
      open({ onnx: { threshold: 0.7 } }),
      open({ onnx: {} }, { config: { id2label: { 0: 'w', 1: 'x', 2: 'y', 3: 'z' } } }),
      open({ onnx: {} }),
    ].map(async (opening) => {
      const model = await opening;
      await model.close();
      return model.modelId;
    }),
  );
  expect(new Set(ids).size).toBe(3);
  expect(ids[0]).toBe(ids[3]);
});

test('a task that fails on an item fails that item alone; an unknown task is refused when it is opened', async () => {
  const model = await open({ transformers: { task: 'text-classification', options: { top_k: 2 } } });
  const { results } = await model.run(['ants', null, 'bees'], signal);
  expect(results[0]).toHaveLength(2);
  expect(results[1]).toMatchObject({ code: 'inference_failed' });
  expect(results[2]).toHaveLength(2);
  await model.close();
  await expect(open({ transformers: { task: 'mind-reading' } })).rejects.toMatchObject({
    code: 'model_unsupported',
  });
});

test('a pipeline of transformers.js takes the threads that it is given, and no more than there are cores', async () => {
  const threadsMore = async (threads?: number) => {
    const before = await readdir('/proc/self/task');
    const model = await open({ transformers: { task: 'text-classification', threads } });
    const after = await readdir('/proc/self/task');
    await model.close();
    return after.length - before.length;
  };
  await threadsMore();
  const one = await threadsMore(1);
  const cores = availableCores();
  expect(await threadsMore(cores)).toBe(one + cores - 1);
  await expect(threadsMore(cores + 1)).rejects.toMatchObject({ code: 'resources_insufficient' });
});
