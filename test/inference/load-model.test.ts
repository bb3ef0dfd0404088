import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { identityDigest } from '../../src/inference/identity.js';
import { loadEmbeddingModel } from '../../src/inference/load-model.js';
import { modelSpec } from '../../src/inference/model-spec.js';
import { createWorkerPool, type WorkerPool } from '../../src/inference/workers/pool.js';
import { startHub, type HubDouble } from '../support/hub.js';
import { ownEmbedding } from '../support/own-embedding.js';
import { tinyModelFiles } from '../support/tiny-model.js';

const commit = createHash('sha1').update('tiny').digest('hex');
let folder: string;
let pool: WorkerPool;
let hub: HubDouble;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-load-'));
  pool = createWorkerPool({ size: 1 });
  const extra = { 'README.md': Buffer.from('# tiny'), 'model.safetensors': Buffer.alloc(1000) };
  const files = { ...tinyModelFiles(), ...extra };
  hub = await startHub({ id: 'owner/tiny', branch: 'main', commit, files });
});
afterAll(async () => {
  await pool.close();
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['concurrency', { concurrency: 0 }],
  ['maxTokens', { maxTokens: 0 }],
  ['identity.width', { width: 0 }],
])(
  'a model of one’s own with a %s that nothing can run on is refused, and closed',
  async (place, options) => {
    let closed = 0;
    const own = {
      load: async () => ({
        ...(await ownEmbedding({ name: 'own', ...options }).load()),
        close: async () => void (closed += 1),
      }),
    };
    await expect(load({ own })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`${place}: `) as string,
    });
    expect(closed).toBe(1);
  },
);

const load = (spec: object, offline = false) =>
  loadEmbeddingModel(modelSpec.parse(spec), {
    pool,
    cacheFolder: join(folder, 'hub'),
    baseFolder: folder,
    hubUrl: hub.url,
    offline,
  });

describe('loading a model', () => {
  test('fetches from the hub what its handler needs, opens it, and says its commit', async () => {
    const model = await load({ onnx: { model: 'owner/tiny', revision: 'main' } });
    expect(model.identity).toMatchObject({ name: 'owner/tiny', revision: commit, width: 4, dtype: 'fp32' });
    expect(await model.embed([{ text: 'ants' }], 'document')).toMatchObject({
      modelId: identityDigest(model.identity),
      width: 4,
      vectors: [expect.any(Float32Array)],
    });
    await model.close();
    expect(hub.requests.some(({ path }) => /README|safetensors/.test(path))).toBe(false);

    const before = hub.requests.length;
    const again = await load({ onnx: { model: 'owner/tiny' } }, true);
    expect(again.identity).toEqual(model.identity);
    await again.close();
    expect(hub.requests.length).toBe(before);
  });

  test('opens the bundled model with the static handler', async () => {
    const model = await load({ static: {} }, true);
    expect(model.identity).toMatchObject({ name: 'bundled', normalize: true });
    const {
      vectors: [vector],
    } = await model.embed([{ text: 'a mill race carries water' }], 'document');
    expect(vector).toHaveLength(model.identity.width);
    await model.close();
  });

  test('says what a model lacks for its handler', async () => {
    await expect(load({ onnx: { model: 'owner/tiny', dtype: 'int8' } })).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining('The model owner/tiny has no int8 export'),
      hint: expect.stringContaining('onnx/model.onnx'),
    });
    await expect(load({ static: { model: 'owner/none' } })).rejects.toMatchObject({
      code: 'model_not_found',
    });
  });
});

describe('the spec of a model', () => {
  const issues = (spec: unknown) => modelSpec.safeParse(spec).error?.issues ?? [];

  test('names exactly one handler', () => {
    expect(issues({})).toMatchObject([{ message: expect.stringContaining('static, onnx') }]);
    expect(issues({ static: {}, onnx: { model: 'a/b' } })).toHaveLength(1);
    expect(issues({ static: {} })).toEqual([]);
  });

  test('reports a wrong option by its path, and refuses one that does not exist', () => {
    expect(issues({ onnx: { model: 'a/b', threads: 0 } })[0]?.path).toEqual(['onnx', 'threads']);
    expect(issues({ onnx: { model: 'a/b', device: 'tpu' } })[0]?.path).toEqual(['onnx', 'device']);
    expect(issues({ onnx: { model: 'a/b', batch: 3 } })).toMatchObject([
      { code: 'unrecognized_keys', keys: ['batch'] },
    ]);
  });

  test('describes every option, for the reference page', () => {
    const schema = z.toJSONSchema(modelSpec, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    for (const [handler, { properties = {}, description }] of Object.entries(schema.properties!)) {
      expect(description, handler).toBeTruthy();
      for (const [option, { description }] of Object.entries(properties)) {
        expect(description, `${handler}.${option}`).toBeTruthy();
      }
    }
  });
});

interface JsonSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}
