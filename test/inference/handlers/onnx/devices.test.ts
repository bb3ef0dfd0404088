import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notice } from '../../../../src/contracts/context.js';
import { createOnnxModel } from '../../../../src/inference/handlers/onnx/create-onnx-model.js';
import { openOnCpu, threadsOf } from '../../../../src/inference/handlers/onnx/cpu-place.js';
import { openOnGpus } from '../../../../src/inference/handlers/onnx/gpu-place.js';
import { onnxOptions } from '../../../../src/inference/handlers/onnx/options.js';
import type { PlaceOptions } from '../../../../src/inference/handlers/onnx/place.js';
import { resolveLocalModel } from '../../../../src/inference/models/local-model.js';
import { availableCores } from '../../../../src/inference/workers/cores.js';
import { availableMemory } from '../../../../src/inference/workers/memory.js';
import { createWorkerPool, type WorkerPool } from '../../../../src/inference/workers/pool.js';
import { temporaryFolder, writeFiles } from '../../../support/temporary-folder.js';
import { tinyModelFiles } from '../../../support/tiny-model.js';

let pool: WorkerPool;
beforeAll(() => {
  pool = createWorkerPool({ size: 4 });
});
afterAll(() => pool.close());

async function open(options: object) {
  const path = await temporaryFolder();
  await writeFiles(path, tinyModelFiles());
  const notices: Notice[] = [];
  const model = await createOnnxModel({
    folder: await resolveLocalModel(path, (paths) => paths, { name: 'tiny' }),
    pool,
    options: onnxOptions.parse({ model: path, ...options }),
    onNotice: (notice) => notices.push(notice),
  });
  return { model, notices };
}

/** A place for a service that only says what it was given. */
const place = (bytes: number, options: object): PlaceOptions => ({
  model: 'tiny',
  bytes,
  pool,
  options: onnxOptions.parse({ model: 'tiny', ...options }),
  module: new URL('../../workers/fixture-service.js', import.meta.url),
  serviceOptions: ({ device, deviceIndex, threads }) => ({ label: `${device} ${deviceIndex} ${threads}` }),
});

// No machine has so many: what is asked for is missing wherever the tests run.
const noSuchGpu = { deviceIndex: 63 };

describe('the device of an onnx model', () => {
  test('a GPU that is not there is refused, with what it needs and how to go without it', async () => {
    await expect(open({ device: 'cuda', ...noSuchGpu })).rejects.toMatchObject({
      code: 'device_unavailable',
      message: expect.stringContaining('cuda 63') as string,
      hint: expect.stringMatching(/CUDA.*device: \[cuda, cpu\]/) as string,
    });
  });

  test('of a list the first that is there is taken, with a warning that says which is not', async () => {
    const { model, notices } = await open({ device: ['cuda', 'cpu'], ...noSuchGpu });
    expect(notices).toContainEqual({
      level: 'warn',
      code: 'device_fallback',
      message: expect.stringMatching(/runs on cpu, not on cuda\..*CUDA/) as string,
    });
    const plain = await open({});
    expect(plain.notices.map(({ code }) => code)).not.toContain('device_fallback');
    expect(model.identity).toMatchObject({ ...plain.model.identity });
    const ask = [{ text: 'ants bees' }];
    expect((await model.embed(ask, 'document')).vectors).toEqual(
      (await plain.model.embed(ask, 'document')).vectors,
    );
    await model.close();
    await plain.model.close();
  });

  test('each of several GPUs has a worker of its own, and the idle one gets the next batch', async () => {
    const gpus = openOnGpus('cuda', place(1, { deviceIndex: [0, 2, 5] }));
    const labels = async () => {
      const answers = [0, 1, 2].map(() => gpus.call<{ label: string }>('where', null));
      return (await Promise.all(answers)).map(({ label }) => label.replace(/ \d+$/, '')).sort();
    };
    expect(await labels()).toEqual(['cuda 0', 'cuda 2', 'cuda 5']);
    expect(await labels()).toEqual(['cuda 0', 'cuda 2', 'cuda 5']);
    await gpus.close();
  });

  test('in worker processes a model gives the vectors that it gives in threads', async () => {
    const [threads, processes] = [await open({}), await open({ isolation: 'process' })];
    const ask = [{ text: 'cows' }, { text: 'ants bees' }];
    expect((await processes.model.embed(ask, 'document')).vectors).toEqual(
      (await threads.model.embed(ask, 'document')).vectors,
    );
    expect(processes.notices).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('process') as string }),
    );
    await threads.model.close();
    await processes.model.close();
  });
});

describe('the resources of an onnx model', () => {
  test('only as many workers run as have room for the weights, and they share the cores', async () => {
    const roomy = openOnCpu(place(1e6, { memoryMb: 100 }));
    const tight = openOnCpu(place(1e6, { memoryMb: 2 }));
    expect([roomy.concurrency, tight.concurrency]).toEqual([8, 4]);
    const { label } = await tight.call<{ label: string }>('where', null);
    expect(label).toBe(`cpu 0 ${Math.max(1, Math.floor(availableCores() / 2))}`);
    await roomy.close();
    await tight.close();
  });

  test.each([
    ['memory for the weights', 2e6, { memoryMb: 1 }],
    ['memory of the machine', 1, { memoryMb: Math.ceil(availableMemory() / 1e6) + 1 }],
    ['cores', 1, { threads: 256 }],
  ])('more than there is of %s is refused at the start', (_, bytes, options) => {
    expect(() => openOnCpu(place(bytes, options))).toThrow(
      expect.objectContaining({
        code: 'resources_insufficient',
        hint: expect.stringContaining('Lower') as string,
      }),
    );
  });

  test('threads are counted from the cores of the container, shared among workers', () => {
    expect(threadsOf(undefined, 1, 2)).toBe(2);
    expect(threadsOf(undefined, 4, 2)).toBe(1);
    expect(threadsOf(undefined, 4, 9)).toBe(2);
    expect(() => threadsOf(3, 1, 2)).toThrow('2 cores');
  });

  test('memory is what the container is given, else what the machine has', () => {
    expect(availableMemory(100, undefined)).toBe(100);
    expect(availableMemory(100, 0)).toBe(100);
    expect(availableMemory(100, 2 ** 63)).toBe(100);
    expect(availableMemory(100, 40)).toBe(40);
  });
});
