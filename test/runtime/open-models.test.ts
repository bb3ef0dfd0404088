import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { EmbeddingModel } from '../../src/contracts/embedding-model.js';
import { Releasers } from '../../src/flow/releasers.js';
import { Stop } from '../../src/flow/stop.js';
import { systemClock } from '../../src/flow/system-clock.js';
import { modelSpec } from '../../src/inference/model-spec.js';
import { createWorkerPool } from '../../src/inference/workers/pool.js';
import type { PipelineSpec } from '../../src/pipeline/spec.js';
import { openModels, type Models } from '../../src/runtime/open-models.js';
import { writeFiles } from '../support/temporary-folder.js';
import { tinyModelFiles, tinyTable } from '../support/tiny-model.js';

let root: string;
let releasers: Releasers;
let models: Models;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-open-models-'));
  vi.stubEnv('TMPDIR', root);
});
afterEach(async () => {
  await releasers.release();
  expect(await copies()).toEqual([]);
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

/** What is held of the folders, by random names. */
async function copies(): Promise<string[]> {
  const roots = (await readdir(root)).filter((name) => name.startsWith('millrace-models-'));
  const held = (await Promise.all(roots.map((name) => readdir(join(root, name))))).flat();
  return held.filter((name) => name !== 'owner');
}

/** Two models of one run, each watched in its own folder. */
async function openTwo(
  limits: PipelineSpec['models']['maxLoaded'],
): Promise<[EmbeddingModel, EmbeddingModel]> {
  releasers = new Releasers();
  const pool = createWorkerPool({ size: 2 });
  releasers.push(() => pool.close());
  models = openModels({
    spec: {
      baseFolder: root,
      models: { cacheFolder: root, offline: true, maxLoaded: limits },
      refresh: { watch: [], everyMs: 1_000, allow: [] },
    } as unknown as PipelineSpec,
    pool,
    context: { connectors: {}, clock: systemClock, report: () => undefined, releasers },
    stop: new Stop(systemClock),
  });
  const open = (model: string) =>
    models.embedding(modelSpec.parse({ onnx: { model } }), { fillsStore: false });
  return [await open('./a'), await open('./b')];
}

/** Files of a model whose vectors are those of the tiny one times a number. */
const put = (name: string, factor: number) =>
  writeFiles(
    join(root, name),
    tinyModelFiles({ table: tinyTable.map((row) => row.map((value) => value * factor)) }),
  );
const refresh = async (name: string) =>
  models.targets.find(({ model }) => model === `./${name}`)!.refresh({ model: `./${name}` });
const embed = async (model: EmbeddingModel) => (await model.embed([{ text: 'ants' }], 'document')).vectors[0];

test('a model that is loaded for two goes on for the one when the other has another', async () => {
  await Promise.all([put('a', 1), put('b', 1)]);
  const [a, b] = await openTwo(undefined);
  expect(await copies()).toHaveLength(1);
  await Promise.all([put('a', 2), put('b', 2)]);
  expect(await refresh('a')).toMatchObject({ result: 'switched' });
  expect(await refresh('b')).toMatchObject({ result: 'switched' });
  const before = await embed(b);
  expect(await embed(a)).toEqual(before);
  await put('a', 3);
  expect(await refresh('a')).toMatchObject({ result: 'switched' });
  // More batches at once than it has workers yet: another one loads its files.
  const all = await Promise.all(Array.from({ length: 8 }, () => embed(b)));
  expect(all).toEqual(all.map(() => before));
  expect(await embed(a)).not.toEqual(before);
  // The first stays for the chunker; then what each of the two has.
  expect(await copies()).toHaveLength(3);
  await put('b', 3);
  expect(await refresh('b')).toMatchObject({ result: 'switched' });
  expect(await embed(b)).toEqual(await embed(a));
  expect(await copies()).toHaveLength(2);
});

test('a model that was loaded by another comes back when its successor does not do', async () => {
  await Promise.all([put('a', 1), put('b', 1)]);
  const [, b] = await openTwo(2);
  const before = await embed(b);
  await put('a', 2);
  expect(await refresh('a')).toMatchObject({ result: 'switched' });
  // In place of the old one, for want of room.
  await put('b', NaN);
  expect(await refresh('b')).toMatchObject({ result: 'refused', error: { code: 'probe_failed' } });
  expect(await embed(b)).toEqual(before);
});
