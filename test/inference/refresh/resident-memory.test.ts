import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { identityDigest } from '../../../src/inference/identity.js';
import { createModelManager } from '../../../src/inference/manager.js';
import { modelSpec } from '../../../src/inference/model-spec.js';
import { prepareEmbeddingModel } from '../../../src/inference/prepare-model.js';
import { embeddingProbe } from '../../../src/inference/refresh/embedding-probe.js';
import { createLiveEmbeddingModel } from '../../../src/inference/refresh/live-embedding-model.js';
import { createLiveModel } from '../../../src/inference/refresh/live-model.js';
import { createRefresher } from '../../../src/inference/refresh/refresher.js';
import { withOwnWorkers } from '../../../src/inference/workers/own-workers.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { tinyModelFiles } from '../../support/tiny-model.js';

const rows = 4_096;
const width = 1_024;
const modelBytes = rows * width * 4;

/** A model of 16 MB whose vectors are all of this number. */
const large = (value: number) => {
  const row = Array.from({ length: width }, () => value);
  return tinyModelFiles({ table: Array.from({ length: rows }, () => row) });
};

test('however often a model is exchanged under load, memory holds the one that serves and one beside it', async () => {
  const root = await temporaryFolder();
  const paths = ['a', 'b'].map((name) => join(root, name));
  for (const [at, path] of paths.entries()) await writeFiles(path, large(at + 1));
  // As a run has it: each model that is exchanged has workers of its own.
  const prepare = (model: string) =>
    withOwnWorkers(1, (pool) =>
      prepareEmbeddingModel(modelSpec.parse({ onnx: { model } }), {
        pool,
        baseFolder: root,
        cacheFolder: root,
      }),
    );
  const manager = createModelManager();
  const loadable = await prepare(paths[0]!);
  const live = createLiveModel<EmbeddingModel>(await manager.acquire(loadable));
  const stop = new AbortController();
  const refresher = createRefresher({
    name: 'large',
    live,
    loadable,
    manager,
    probe: embeddingProbe({ sameSpace: false }),
    idOf: ({ identity }) => identityDigest(identity),
    clock: systemClock,
    report: () => undefined,
    signal: stop.signal,
  });
  const model = createLiveEmbeddingModel(live);
  let over = false;
  const traffic = (async () => {
    for (; !over; await sleep(1)) await model.embed([{ text: 'ants bees' }, { text: 'cows' }], 'document');
  })();

  const resident: number[] = [];
  for (let round = 1; round <= 24; round += 1) {
    expect(await refresher.refresh(() => prepare(paths[round % 2]!))).toMatchObject({ result: 'switched' });
    resident.push(process.memoryUsage.rss());
  }
  over = true;
  await traffic;
  await manager.close();
  // What was made to write the files is gone after a few. One that stayed at each exchange would be sixteen.
  const [early, late] = [resident.slice(4, 8), resident.slice(-4)].map((part) => Math.min(...part));
  expect(late! - early!).toBeLessThan(5 * modelBytes);
}, 60_000);
