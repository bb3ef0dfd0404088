import { setTimeout as sleep } from 'node:timers/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { identityDigest } from '../../../src/inference/identity.js';
import { createModelManager, type ModelLimits, type ModelManager } from '../../../src/inference/manager.js';
import { modelSpec } from '../../../src/inference/model-spec.js';
import { prepareEmbeddingModel } from '../../../src/inference/prepare-model.js';
import { embeddingProbe } from '../../../src/inference/refresh/embedding-probe.js';
import { createLiveEmbeddingModel } from '../../../src/inference/refresh/live-embedding-model.js';
import { createLiveModel } from '../../../src/inference/refresh/live-model.js';
import { createRefresher, type Refresher } from '../../../src/inference/refresh/refresher.js';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { RunEvent } from '../../../src/observability/events.js';
import { tinyModelFiles, tinyTable, type TinyModel } from '../../support/tiny-model.js';
import { writeFiles } from '../../support/temporary-folder.js';

let root: string;
let pool: WorkerPool;
let manager: ModelManager;
const events: RunEvent[] = [];
const stop = new AbortController();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-refresh-'));
  pool = createWorkerPool({ size: 2 });
});
beforeEach(() => {
  events.length = 0;
});
afterEach(() => manager.close());
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true, force: true });
});

async function folder(name: string, tiny: TinyModel = {}): Promise<string> {
  const path = join(root, name);
  await writeFiles(path, tinyModelFiles(tiny));
  return path;
}
const prepare = (model: string, options: object = {}) =>
  prepareEmbeddingModel(modelSpec.parse({ onnx: { model, ...options } }), {
    pool,
    baseFolder: root,
    cacheFolder: root,
  });

interface Live {
  readonly model: EmbeddingModel;
  readonly refresher: Refresher<EmbeddingModel>;
}

async function live(
  path: string,
  options: ModelLimits & { sameSpace?: boolean; close?: () => Promise<void> } = {},
): Promise<Live> {
  const { sameSpace = false, close, ...limits } = options;
  manager = createModelManager({
    ...limits,
    onNotice: (notice) => events.push({ type: 'notice', ...notice }),
  });
  const found = await prepare(path);
  const loadable: typeof found =
    close === undefined
      ? found
      : { ...found, load: async (signal) => ({ ...(await found.load(signal)), close }) };
  const inner = createLiveModel(await manager.acquire(loadable));
  const refresher = createRefresher({
    name: 'tiny',
    live: inner,
    loadable,
    manager,
    probe: embeddingProbe({ sameSpace }),
    idOf: ({ identity }) => identityDigest(identity),
    clock: systemClock,
    report: (event) => events.push(event),
    signal: stop.signal,
  });
  return { model: createLiveEmbeddingModel(inner), refresher };
}

/** A model whose vectors are those of the tiny one times a number. */
const times = (factor: number) => ({ table: tinyTable.map((row) => row.map((value) => value * factor)) });
const ask = [{ text: 'ants' }, { text: 'bees cows' }];

/** Asks without end, and holds every answer against the model that it says it is from. */
async function traffic(
  model: EmbeddingModel,
  known: ReadonlyMap<string, readonly Float32Array[]>,
  stop: AbortSignal,
) {
  const seen = new Map<string, number>();
  const lane = async () => {
    while (!stop.aborted) {
      const { modelId, vectors } = await model.embed(ask, 'document');
      expect(vectors).toEqual(known.get(modelId));
      seen.set(modelId, (seen.get(modelId) ?? 0) + 1);
      await sleep(0);
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  return seen;
}

async function known(...paths: string[]): Promise<Map<string, readonly Float32Array[]>> {
  const all = new Map<string, readonly Float32Array[]>();
  for (const path of paths) {
    const model = await (await prepare(path)).load(stop.signal);
    const { modelId, vectors } = await model.embed(ask, 'document');
    all.set(modelId, vectors);
    await model.close();
  }
  return all;
}

describe('a model that is exchanged while it is used', () => {
  test.each([
    ['beside the old one', {}],
    ['in its place, for want of room', { maxModels: 1 }],
  ])('%s: every batch is of one model, and labelled with it', async (_, limits) => {
    const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
    const answers = await known(a, b);
    const { model, refresher } = await live(a, limits);
    const over = new AbortController();
    const running = traffic(model, answers, over.signal);
    for (let round = 0; round < 6; round += 1) {
      await sleep(10);
      const outcome = await refresher.refresh(() => prepare(round % 2 === 0 ? b : a));
      expect(outcome).toMatchObject({ result: 'switched', to: [...answers.keys()][(round + 1) % 2] });
      expect(manager.loaded).toHaveLength(1);
    }
    await sleep(10);
    over.abort();
    const seen = await running;
    expect([...seen.keys()].sort()).toEqual([...answers.keys()].sort());
  });

  test.each([
    ['beside the old one', {}],
    ['in its place', { maxModels: 1 }],
  ])(
    '%s: that the old one cannot be closed is told, and changes nothing for the new one',
    async (_, limits) => {
      const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
      const close = async () => Promise.reject(new Error('it does not close'));
      const { model, refresher } = await live(a, { ...limits, close });
      const outcome = await refresher.refresh(() => prepare(b));
      expect(outcome).toMatchObject({ result: 'switched' });
      expect(outcome.to).not.toBe(outcome.from);
      expect(events).toMatchObject([
        { type: 'notice', code: 'model_not_closed' },
        { type: 'refresh', result: 'switched', to: outcome.to },
      ]);
      expect((await model.embed(ask, 'document')).modelId).toBe(outcome.to);
      expect(manager.loaded).toMatchObject([{ uses: 1 }]);
      expect(await refresher.refresh(() => prepare(a))).toMatchObject({
        result: 'switched',
        to: outcome.from,
      });
    },
  );

  test('asked for twice within a moment, one refresh comes after the other', async () => {
    const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
    const { model, refresher } = await live(a);
    const results = await Promise.all([
      refresher.refresh(() => prepare(b)),
      refresher.refresh(() => prepare(b)),
      refresher.refresh(() => prepare(a)),
    ]);
    expect(results.map(({ result }) => result)).toEqual(['switched', 'unchanged', 'switched']);
    expect(results[2]!.to).toBe(results[0]!.from);
    expect(manager.loaded).toMatchObject([{ uses: 1 }]);
    expect((await model.embed(ask, 'document')).modelId).toBe(results[0]!.from);
  });

  test('four models, each refreshed twice: only the four that serve are loaded', async () => {
    const paths = await Promise.all([1, 2, 3, 4].map((n) => folder(`m${n}`, times(n))));
    const later = await Promise.all([11, 12, 13, 14].map((n) => folder(`m${n}`, times(n))));
    manager = createModelManager();
    const shared = manager;
    const refreshers: Refresher<EmbeddingModel>[] = [];
    for (const path of paths) {
      const loadable = await prepare(path);
      const inner = createLiveModel(await shared.acquire(loadable));
      refreshers.push(
        createRefresher({
          name: path,
          live: inner,
          loadable,
          manager: shared,
          probe: embeddingProbe({ sameSpace: false }),
          idOf: ({ identity }) => identityDigest(identity),
          clock: systemClock,
          report: () => undefined,
          signal: stop.signal,
        }),
      );
    }
    for (const [at, refresher] of refreshers.entries()) {
      await refresher.refresh(() => prepare(later[at]!));
      await refresher.refresh(() => prepare(paths[at]!));
    }
    expect(shared.loaded).toHaveLength(4);
  });

  test('files of which a part is missing, or that are no model at all: the old one serves on under its name', async () => {
    const a = await folder('a', times(1));
    const { model, refresher } = await live(a);
    const before = await model.embed(ask, 'document');
    const cut = await folder('cut', times(2));
    const whole = tinyModelFiles(times(2))['onnx/model.onnx']!;
    await writeFile(join(cut, 'onnx/model.onnx'), whole.subarray(0, whole.length / 5));
    for (const [path, code] of [
      [cut, 'model_corrupt'],
      [join(root, 'absent'), 'model_not_found'],
    ]) {
      const outcome = await refresher.refresh(() => prepare(path!));
      expect(outcome).toMatchObject({ result: 'refused', to: outcome.from, error: { code } });
      expect(events.at(-1)).toMatchObject({ type: 'refresh', model: 'tiny', result: 'refused' });
    }
    expect((await model.embed(ask, 'document')).vectors).toEqual(before.vectors);
    expect(manager.loaded).toHaveLength(1);
  });

  test.each([
    [
      'whose vectors are not finite',
      { table: tinyTable.map(([, ...rest]) => [NaN, ...rest]) },
      'not a finite number',
    ],
    ['whose vectors are zero', { table: tinyTable.map(() => [0, 0, 0, 0]) }, 'length 0'],
    [
      'that reads less of a text',
      { files: { 'sentence_bert_config.json': { max_seq_length: 6 } } },
      'texts are cut for',
    ],
  ])('a model %s does not pass its probe, beside the old one or in its place', async (name, tiny, why) => {
    for (const limits of [{}, { maxModels: 1 }]) {
      const a = await folder('a', times(1));
      const { model, refresher } = await live(a, limits);
      const before = await model.embed(ask, 'document');
      const bad = await folder(name.replaceAll(' ', '-'), { ...times(1), ...tiny });
      const outcome = await refresher.refresh(() => prepare(bad));
      expect(outcome).toMatchObject({ result: 'refused', to: outcome.from, error: { code: 'probe_failed' } });
      expect(outcome.error!.message).toContain(why);
      const after = await model.embed(ask, 'document');
      expect([after.modelId, after.vectors]).toEqual([before.modelId, before.vectors]);
      expect(manager.loaded).toHaveLength(1);
      await manager.close();
    }
  });

  test('vectors that turned although the identity says that they are the same do not pass', () => {
    const probe = embeddingProbe({ sameSpace: false });
    const identity = {
      name: 'm',
      weights: 'w',
      tokenizer: 't',
      pooling: 'mean' as const,
      normalize: true,
      prompts: { document: '', query: '' },
      width: 2,
      dtype: 'int8',
    };
    const sample = (angle: number) => ({
      identity,
      maxTokens: 9,
      vectors: Array.from({ length: 6 }, () => Float32Array.of(Math.cos(angle), Math.sin(angle))),
    });
    const judge = (next: ReturnType<typeof sample>) => () => probe.judge(next, sample(0), sample(0));
    expect(judge(sample(0.1))).not.toThrow();
    expect(judge(sample(0.3))).toThrow('cosine of 0.955');
    expect(judge({ ...sample(0.3), identity: { ...identity, dtype: 'fp32' } })).not.toThrow();
  });

  test('a model that fills a store is exchanged for another device or thread count, not for another space', async () => {
    const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
    const { model, refresher } = await live(a, { sameSpace: true });
    const threads = await refresher.refresh(() => prepare(a, { threads: 1, isolation: 'process' }));
    expect(threads).toMatchObject({ result: 'switched', to: threads.from });
    const other = await refresher.refresh(() => prepare(b));
    expect(other).toMatchObject({
      result: 'refused',
      error: {
        code: 'artifact_mismatch',
        message: expect.stringContaining('weights (stored ') as string,
        hint: expect.stringContaining('Fill a new generation') as string,
      },
    });
    expect((await model.embed(ask, 'document')).modelId).toBe(threads.from);
  });

  test('token ids of the first tokenizer are not given to a model with another', async () => {
    const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
    // The same words under other ids: ids of the first would mean other words.
    const files = tinyModelFiles();
    const tokenizer = JSON.parse(files['tokenizer.json']!.toString()) as {
      model: { vocab: Record<string, number> };
    };
    Object.assign(tokenizer.model.vocab, { ants: 6, cows: 4 });
    await writeFile(join(b, 'tokenizer.json'), JSON.stringify(tokenizer));
    const { model, refresher } = await live(a);
    const withIds = [{ text: 'ants', ids: Int32Array.of(4) }];
    const plain = [{ text: 'ants' }];
    expect(await refresher.refresh(() => prepare(b))).toMatchObject({ result: 'switched' });
    expect((await model.embed(withIds, 'document')).vectors).toEqual(
      (await model.embed(plain, 'document')).vectors,
    );
  });

  test('after one that reads longer texts, the first model may come back: texts are cut for it', async () => {
    const reads = (max_seq_length: number) => ({
      files: { 'sentence_bert_config.json': { max_seq_length, do_lower_case: false } },
    });
    const [first, longer, shorter] = [
      await folder('first', reads(8)),
      await folder('longer', reads(10)),
      await folder('shorter', reads(6)),
    ];
    const { refresher } = await live(first);
    expect(await refresher.refresh(() => prepare(longer))).toMatchObject({ result: 'switched' });
    expect(await refresher.refresh(() => prepare(shorter))).toMatchObject({
      result: 'refused',
      error: { code: 'probe_failed', message: expect.stringContaining('texts are cut for 6') as string },
    });
    expect(await refresher.refresh(() => prepare(first))).toMatchObject({ result: 'switched' });
  });

  test('a model that others use too is not closed to make room for its successor', async () => {
    const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
    const { model, refresher } = await live(a, { maxModels: 1 });
    const other = await manager.acquire(await prepare(a));
    expect(await refresher.refresh(() => prepare(b))).toMatchObject({
      result: 'refused',
      error: { code: 'resources_insufficient', hint: expect.stringContaining('models.max') as string },
    });
    other.release();
    expect(await refresher.refresh(() => prepare(b))).toMatchObject({ result: 'switched' });
    expect((await model.embed(ask, 'document')).vectors).toHaveLength(2);
  });

  test('a model that others use too is exchanged here alone, without waiting for them', async () => {
    const [a, b] = [await folder('a', times(1)), await folder('b', times(2))];
    const { model, refresher } = await live(a);
    const other = await manager.acquire(await prepare(a));
    const refreshed = refresher.refresh(() => prepare(b));
    const inTime = Promise.race([refreshed, sleep(20_000).then(() => 'it waits for the others')]);
    expect(await inTime).toMatchObject({ result: 'switched' });
    const [mine, theirs] = await Promise.all([
      model.embed(ask, 'document'),
      other.model.embed(ask, 'document'),
    ]);
    expect(mine.modelId).not.toBe(theirs.modelId);
    other.release();
    await expect.poll(() => manager.loaded.length).toBe(1);
  });

  test('a stop that waits for a batch under way ends, also when the model is exchanged meanwhile', async () => {
    manager = createModelManager();
    const [a, b] = await Promise.all(
      [times(1), times(2)].map(async (tiny, at) =>
        manager.acquire(await prepare(await folder(`stop-${at}`, tiny))),
      ),
    );
    const inner = createLiveModel(a!);
    let end: () => void = () => undefined;
    const batch = inner.use(() => new Promise<void>((resolve) => (end = resolve)));
    await sleep(0);
    const closed = inner.close();
    await sleep(0);
    const switched = inner.switchTo(b!);
    end();
    await Promise.all([batch, closed, switched]);
  });

  test('when neither the new model nor the old one can be loaded, batches are refused until one can', async () => {
    const [a, b] = [await folder('lost', times(1)), await folder('b', times(2))];
    const { model, refresher } = await live(a, { maxModels: 1 });
    const cut = await folder('cut', times(3));
    const next = await prepare(cut);
    await writeFile(join(cut, 'onnx/model.onnx'), 'no model');
    await writeFile(join(a, 'onnx/model.onnx'), 'changed under it');
    const outcome = await refresher.refresh(async () => next);
    expect(outcome).toMatchObject({ result: 'refused', error: { code: 'model_lost' } });
    await expect(model.embed(ask, 'document')).rejects.toMatchObject({ code: 'model_lost' });
    expect(await refresher.refresh(() => prepare(b))).toMatchObject({ result: 'switched' });
    expect((await model.embed(ask, 'document')).vectors).toHaveLength(2);
  });
});
