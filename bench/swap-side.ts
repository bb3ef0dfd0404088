/** One side of the swap benchmark, in a process of its own: what it holds of memory is its own. */
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelHandler } from '../src/contracts/model-handler.js';
import type { EmbeddingModel } from '../src/contracts/embedding-model.js';
import type { Json } from '../src/elements/metadata.js';
import { systemClock } from '../src/flow/system-clock.js';
import { handlerSpec } from '../src/inference/handler-spec.js';
import { identityDigest } from '../src/inference/identity.js';
import type { Loadable } from '../src/inference/loadable.js';
import { createModelManager } from '../src/inference/manager.js';
import { modelSpec } from '../src/inference/model-spec.js';
import { prepareHandler } from '../src/inference/prepare-handler.js';
import { prepareEmbeddingModel } from '../src/inference/prepare-model.js';
import { embeddingProbe } from '../src/inference/refresh/embedding-probe.js';
import { handlerProbe } from '../src/inference/refresh/handler-probe.js';
import { createLiveModel } from '../src/inference/refresh/live-model.js';
import type { Probe } from '../src/inference/refresh/probe.js';
import { createRefresher } from '../src/inference/refresh/refresher.js';
import { withOwnWorkers } from '../src/inference/workers/own-workers.js';
import { tinyModelFiles, tinyTable } from '../test/support/tiny-model.js';
import { writeFiles } from '../test/support/write-files.js';
import { answer } from './child-process.js';

export interface SwapSide {
  readonly kind: 'embed' | 'infer';
  /** Whether both models may be loaded at once. */
  readonly room: 'beside' | 'in-place';
  /** The real model's folder. */
  readonly model: string;
  /** An empty folder for spoilt ones. */
  readonly folder: string;
  readonly swaps: number;
}

export interface SwapResult {
  readonly elements: number;
  readonly lost: number;
  /** Answers that are not those of the model that they name. */
  readonly mislabelled: number;
  readonly switched: number;
  /** Refused as they should be: files that cannot be loaded, and models that do not pass the probe. */
  readonly refused: number;
  /** Resident bytes after each exchange. */
  readonly rss: readonly number[];
  /** The longest time without an answer, the longest batch, and the longest time that batches had to wait, in ms. */
  readonly pauseMs: number;
  readonly batchMs: number;
  readonly switchMs: number;
}

/** What a kind of model is asked, and how its answers are compared: one row of numbers a text. */
interface Kind<Model> {
  prepare(model: string, variant: 'a' | 'b'): Promise<Loadable<Model>>;
  idOf(model: Model): string;
  ask(model: Model, texts: readonly string[]): Promise<{ modelId: string; rows: ArrayLike<number>[] }>;
  readonly probe: Probe<Model, never>;
}

const texts = Array.from(
  { length: 8 },
  (_, at) => `Sluice ${at}: ${'the wheel turns and the stones grind '.repeat((at % 3) + 1)}`,
);
const lanes = 3;
const workers = 2;
const signal = new AbortController().signal;

await answer(async (input: SwapSide): Promise<SwapResult> => {
  const options = { baseFolder: '.', cacheFolder: '.' };
  const poolings = { a: 'mean', b: 'cls' } as const;
  return input.kind === 'embed'
    ? await exchange<EmbeddingModel>(input, {
        prepare: (model, variant) =>
          withOwnWorkers(workers, (pool) =>
            prepareEmbeddingModel(modelSpec.parse({ onnx: { model, pooling: poolings[variant] } }), {
              ...options,
              pool,
            }),
          ),
        idOf: ({ identity }) => identityDigest(identity),
        ask: async (model, texts) => {
          const { modelId, vectors } = await model.embed(
            texts.map((text) => ({ text })),
            'document',
          );
          return { modelId, rows: [...vectors] };
        },
        probe: embeddingProbe({ sameSpace: false }) as Probe<EmbeddingModel, never>,
      })
    : await exchange<ModelHandler<Json, Json>>(input, {
        prepare: (model, variant) =>
          withOwnWorkers(workers, (pool) =>
            prepareHandler(
              handlerSpec.parse({
                transformers: {
                  model,
                  task: 'feature-extraction',
                  options: { pooling: poolings[variant], normalize: true },
                },
              }),
              { ...options, pool },
            ),
          ),
        idOf: ({ modelId }) => modelId,
        ask: async (model, texts) => {
          const { modelId, results } = await model.run(texts, signal);
          return { modelId, rows: results.map((result) => numbersIn(result)) };
        },
        probe: handlerProbe<Json, Json>(texts) as Probe<ModelHandler<Json, Json>, never>,
      });
});

async function exchange<Model extends { close(): Promise<void> }>(
  { room, model: folder, folder: spoilt, swaps }: SwapSide,
  { prepare, idOf, ask, probe }: Kind<Model>,
): Promise<SwapResult> {
  const manager = createModelManager(room === 'in-place' ? { maxModels: 1 } : {});
  const cut = join(spoilt, 'cut');
  await cp(folder, cut, { recursive: true });
  await writeFile(join(cut, 'onnx', 'model.onnx'), 'no model');
  const faulty = join(spoilt, 'faulty');
  await writeFiles(faulty, tinyModelFiles({ table: tinyTable.map(([, ...rest]) => [NaN, ...rest]) }));

  const expected = new Map<string, ArrayLike<number>[]>();
  for (const variant of ['a', 'b'] as const) {
    const lease = await manager.acquire(await prepare(folder, variant));
    const { modelId, rows } = await ask(lease.model, texts);
    expected.set(modelId, rows);
    await lease.retire();
  }

  const loadable = await prepare(folder, 'a');
  const inner = createLiveModel(await manager.acquire(loadable));
  let switchMs = 0;
  const live: typeof inner = {
    get current() {
      return inner.current;
    },
    use: (batch, signal) => inner.use(batch, signal),
    switchTo: (next) => inner.switchTo(next),
    close: () => inner.close(),
    async replace(load) {
      const began = performance.now();
      await inner.replace(load).finally(() => (switchMs = Math.max(switchMs, performance.now() - began)));
    },
  };
  const refresher = createRefresher({
    name: 'swap',
    live,
    loadable,
    manager,
    probe,
    idOf,
    clock: systemClock,
    report: () => undefined,
    signal,
  });

  let over = false;
  let [elements, answered, mislabelled, batchMs, pauseMs] = [0, 0, 0, 0, 0];
  let lastAnswer = performance.now();
  const lane = async () => {
    while (!over) {
      elements += texts.length;
      const { modelId, rows } = await live.use(async (model) => {
        const began = performance.now();
        const answer = await ask(model, texts);
        batchMs = Math.max(batchMs, performance.now() - began);
        return answer;
      });
      const now = performance.now();
      pauseMs = Math.max(pauseMs, now - lastAnswer);
      lastAnswer = now;
      answered += rows.length;
      const right = expected.get(modelId);
      rows.forEach((row, at) => {
        if (right === undefined || cosine(row, right[at]!) < 0.9999) mislabelled += 1;
      });
    }
  };
  const load = Promise.all(Array.from({ length: lanes }, lane));
  const rss: number[] = [];
  let [switched, refused] = [0, 0];
  for (let at = 0; switched < swaps; at += 1) {
    // Of eleven exchanges one cannot be loaded and one does not pass its probe.
    const bad = at % 11 === 4 ? cut : at % 11 === 9 ? faulty : undefined;
    const outcome = await refresher.refresh(() => prepare(bad ?? folder, switched % 2 === 0 ? 'b' : 'a'));
    if ((outcome.result === 'switched') !== (bad === undefined))
      throw new Error(`Exchange ${at} was ${outcome.result}: ${outcome.error?.message}`);
    if (bad === undefined) switched += 1;
    else refused += 1;
    rss.push(process.memoryUsage.rss());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  over = true;
  await load;
  await live.close();
  await manager.close();
  return {
    elements,
    lost: elements - answered,
    mislabelled,
    switched,
    refused,
    rss,
    pauseMs,
    batchMs,
    switchMs,
  };
}

function numbersIn(value: unknown): number[] {
  return Array.isArray(value) ? value.flatMap(numbersIn) : typeof value === 'number' ? [value] : [];
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, squaresA, squaresB] = [0, 0, 0];
  for (let at = 0; at < b.length; at += 1) {
    dot += a[at]! * b[at]!;
    squaresA += a[at]! ** 2;
    squaresB += b[at]! ** 2;
  }
  return dot / Math.sqrt(squaresA * squaresB);
}
