import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../../src/inference/load-model.js';
import { modelSpec } from '../../src/inference/model-spec.js';
import { createWorkerPool, type WorkerPool } from '../../src/inference/workers/pool.js';
import type { RunEvent } from '../../src/observability/events.js';
import { createEmbedder } from '../../src/transforms/embed.js';
import { estimateTokens } from '../../src/transforms/estimate-tokens.js';
import { ownEmbedding } from '../support/own-embedding.js';
import { tinyModelFiles } from '../support/tiny-model.js';
import { writeFiles } from '../support/write-files.js';

let folder: string;
let pool: WorkerPool;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-embed-'));
  const config = { model_type: 'bert', max_position_embeddings: 64, hidden_size: 4 };
  await writeFiles(folder, tinyModelFiles({ files: { 'config.json': config } }));
  pool = createWorkerPool({ size: 2 });
});
afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(batching: object = {}) {
  const model = await loadEmbeddingModel(
    modelSpec.parse({ onnx: { model: folder, maxTokens: 64, batching } }),
    {
      pool,
      baseFolder: folder,
      cacheFolder: folder,
    },
  );
  const batches: Extract<RunEvent, { type: 'batch' }>[] = [];
  const embedder = createEmbedder({
    model,
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: (event) => void (event.type === 'batch' && batches.push(event)),
  });
  return { model, embedder, batches };
}

/** A word that the model knows, or signs that are a token each: their lengths say little of their tokens. */
const word = (count: number) => Array.from({ length: count }, () => 'ants').join(' ');
const signs = (count: number) => ':'.repeat(count);

test('texts are counted before they wait for a batch: what has as many tokens goes together', async () => {
  const { model, embedder, batches } = await open({ minTokens: 200, maxTokens: 200 });
  const texts = Array.from({ length: 60 }, (_, at) => {
    const tokens = 1 + ((at * 7) % 60);
    return { text: at % 2 === 0 ? word(tokens) : signs(tokens) };
  });
  const found = await embedder.embedAll(texts);
  for (const [at, { text }] of texts.entries()) {
    const { vectors } = await model.embed([{ text }], 'document');
    expect([...found[at]!.vector]).toEqual([...vectors[0]!]);
  }
  expect(batches.reduce((sum, { items }) => sum + items, 0)).toBe(60);
  expect(Math.max(...batches.map(({ paddedCost }) => paddedCost!))).toBeLessThanOrEqual(200);
  const [cost, padded] = [
    batches.reduce((sum, batch) => sum + batch.cost, 0),
    batches.reduce((sum, batch) => sum + batch.paddedCost!, 0),
  ];
  expect(cost).toBe(texts.reduce((sum, _, at) => sum + 1 + ((at * 7) % 60) + 2, 0));
  expect(1 - cost / padded).toBeLessThan(0.15);
  await model.close();
});

test('a model that pays no heed to a stop does not hold it up', async () => {
  const stop = new AbortController();
  const deaf = await ownEmbedding({ name: 'deaf', before: () => new Promise(() => undefined) }).load();
  const embedder = createEmbedder({
    model: deaf,
    role: 'document',
    clock: systemClock,
    signal: stop.signal,
    report: () => undefined,
  });
  const asked = embedder.embed({ text: 'ants' });
  setImmediate(() => setImmediate(() => stop.abort(new Error('stopped'))));
  const inTime = Promise.race([asked, systemClock.sleep(20_000).then(() => 'it is waited for')]);
  await expect(inTime).rejects.toThrow('stopped');
});

test('a model of plain JavaScript may answer without a promise', async () => {
  const own = await ownEmbedding({ name: 'plain' }).load();
  const vectors = [Float32Array.of(1, 2)];
  const embedder = createEmbedder({
    model: { ...own, embed: () => ({ modelId: 'plain', width: 2, vectors }) as never },
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  expect(await embedder.embed({ text: 'ants' })).toEqual({ modelId: 'plain', vector: vectors[0] });
});

test('texts that are counted first are not computed either for a caller that left', async () => {
  const seen: string[] = [];
  let finish: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => (finish = resolve));
  const own = ownEmbedding({
    name: 'busy',
    concurrency: 1,
    before: async (texts) => {
      seen.push(...texts.map(({ text }) => text));
      await busy;
    },
  });
  const embedder = createEmbedder({
    model: { ...(await own.load()), tokenize: async (texts) => texts.map(() => Int32Array.of(1)) },
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  const first = embedder.embed({ text: 'ants' });
  await expect.poll(() => seen).toEqual(['ants']);
  const leave = new AbortController();
  const second = embedder.embedAll([{ text: 'bees' }], leave.signal);
  const refused = expect(second).rejects.toThrow('left');
  leave.abort(new Error('left'));
  finish();
  await Promise.all([first, refused]);
  expect(seen).toEqual(['ants']);
});

test('a single text that finds every worker idle goes straight to the model', async () => {
  const { model, embedder, batches } = await open();
  let counted = 0;
  const tokenize = model.tokenize!;
  const watched = createEmbedder({
    model: { ...model, tokenize: (texts, signal) => ((counted += 1), tokenize(texts, signal)) },
    role: 'query',
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  const { vector } = await watched.embed({ text: 'ants' });
  expect(counted).toBe(0);
  expect([...(await embedder.embed({ text: 'ants' })).vector]).toEqual([...vector]);
  expect(batches).toMatchObject([{ items: 1, cost: 3, paddedCost: 3 }]);
  await model.close();
});

test('tokens are estimated by words, signs and letters beyond ASCII', () => {
  expect(estimateTokens('')).toBe(0);
  expect(estimateTokens('ants, bees')).toBe(3);
  expect(estimateTokens('internationalisation')).toBe(4);
  expect(estimateTokens('水车 turns')).toBe(3);
});

test('of many texts each leaves its vector or its error in its place', async () => {
  const own = await ownEmbedding({ name: 'own' }).load();
  const embedder = createEmbedder({
    model: {
      ...own,
      embed: async (texts) => ({
        modelId: 'own',
        width: 2,
        vectors: texts.map(({ text }) => Float32Array.of(text === 'poison' ? NaN : 1, 2)),
      }),
    },
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  const sound = { modelId: 'own', vector: Float32Array.of(1, 2) };
  const texts = ['ants', 'poison', 'bees'].map((text) => ({ text }));
  const spoilt = expect.objectContaining({ code: 'embedding_invalid' });
  expect(await embedder.embedEach(texts)).toEqual([sound, spoilt, sound]);
});
