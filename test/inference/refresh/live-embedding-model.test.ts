import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../../../src/inference/load-model.js';
import { modelSpec } from '../../../src/inference/model-spec.js';
import { createLiveEmbeddingModel } from '../../../src/inference/refresh/live-embedding-model.js';
import { createLiveModel } from '../../../src/inference/refresh/live-model.js';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import { createEmbedder } from '../../../src/transforms/embed.js';
import { tinyModelFiles } from '../../support/tiny-model.js';
import { writeFiles } from '../../support/write-files.js';

let root: string;
let pool: WorkerPool;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-live-'));
  pool = createWorkerPool({ size: 1 });
});
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true, force: true });
});

async function lease(tokenizer?: Buffer) {
  const folder = await mkdtemp(join(root, 'model-'));
  await writeFiles(
    folder,
    tinyModelFiles(tokenizer === undefined ? {} : { files: { 'tokenizer.json': tokenizer } }),
  );
  const model = await loadEmbeddingModel(modelSpec.parse({ onnx: { model: folder } }), {
    pool,
    baseFolder: root,
    cacheFolder: root,
  });
  return { model, release: () => undefined, retire: () => model.close() };
}

test('a live model tokenizes as its first one, and gives no ids once another tokenizer is in its place', async () => {
  const [first, second] = [await lease(), await lease(otherIds())];
  const live = createLiveModel(first);
  const model = createLiveEmbeddingModel(live);
  const texts = ['ants bees', 'cows', 'bees'];
  expect((await model.tokenize!(texts))!.map((ids) => [...ids])).toEqual([[4, 5], [6], [5]]);
  await live.switchTo(second);
  expect(await model.tokenize!(texts)).toBeUndefined();
  const embedder = createEmbedder({
    model,
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  const { vectors } = await second.model.embed(
    texts.map((text) => ({ text })),
    'document',
  );
  const embedded = await embedder.embedAll(texts.map((text) => ({ text })));
  expect(embedded.map(({ vector }) => [...vector])).toEqual(vectors.map((vector) => [...vector]));
  await second.model.close();
});

/** The tiny tokenizer with the ids of two words exchanged. */
function otherIds(): Buffer {
  const file = JSON.parse(tinyModelFiles()['tokenizer.json']!.toString()) as {
    model: { vocab: Record<string, number> };
  };
  Object.assign(file.model.vocab, { ants: 6, cows: 4 });
  return Buffer.from(JSON.stringify(file));
}
