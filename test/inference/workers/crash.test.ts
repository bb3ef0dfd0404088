import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { createOnnxModel } from '../../../src/inference/handlers/onnx/create-onnx-model.js';
import { onnxOptions } from '../../../src/inference/handlers/onnx/options.js';
import { resolveLocalModel } from '../../../src/inference/models/local-model.js';
import { createWorkerPool, type Isolation, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { Report, RunEvent } from '../../../src/observability/events.js';
import { createEmbedder } from '../../../src/transforms/embed.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { tinyModelFiles, tinyTable, tinyWords } from '../../support/tiny-model.js';

const fixture = new URL('./fixture-service.js', import.meta.url);
let pool: WorkerPool;
afterEach(() => pool.close());

/** A tiny model on the workers of the pool. */
async function tinyOnnx(): Promise<EmbeddingModel> {
  const root = await temporaryFolder();
  await writeFiles(root, tinyModelFiles());
  const folder = await resolveLocalModel(root, (paths) => paths);
  return createOnnxModel({ folder, pool, options: onnxOptions.parse({ model: root }) });
}

const embedderOf = (model: EmbeddingModel, report: Report = () => undefined) =>
  createEmbedder({
    model,
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report,
  });

describe.each<Isolation>(['thread', 'process'])(
  'a worker (%s) that ends in the middle of a batch',
  (isolation) => {
    test('ten times over: every text gets its vector, from a model loaded anew', async () => {
      pool = createWorkerPool({ size: 2, isolation });
      const model = await tinyOnnx();
      const killer = pool.service(fixture, { label: 'killer' });
      const embedder = embedderOf(model);
      const animals = [4, 5, 6];
      for (let round = 0; round < 10; round += 1) {
        const ids = Array.from({ length: 60 }, (_, at) => animals[(at + round) % 3]!);
        const embedded = Promise.all(ids.map((id) => embedder.embed({ text: tinyWords[id]! })));
        // Behind the batch on its worker, or before the next: either way sessions end with calls under way.
        await expect(killer.call('exit', null)).rejects.toMatchObject({ code: 'worker_crashed' });
        const vectors = (await embedded).map(({ vector }) => [...vector]);
        expect(vectors).toEqual(ids.map((id) => meanWithEnds(id)));
      }
      await model.close();
    });

    test('a text that ends its worker fails alone, its neighbours succeed', async () => {
      pool = createWorkerPool({ size: 2, isolation });
      const embedder = embedderOf(fixtureModel(pool));
      const texts = Array.from({ length: 16 }, (_, at) => (at === 5 ? 'poison' : 'x'.repeat(at + 1)));
      const results = await Promise.allSettled(texts.map((text) => embedder.embed({ text })));
      const got = results.map((result) =>
        result.status === 'fulfilled' ? result.value.vector[0] : MillraceError.from(result.reason).code,
      );
      expect(got).toEqual(texts.map((text) => (text === 'poison' ? 'worker_crashed' : text.length)));
    });
  },
);

test('a batch whose worker is killed in the middle of it is embedded by the next one, five times over', async () => {
  pool = createWorkerPool({ size: 1, isolation: 'process' });
  const model = await tinyOnnx();
  const host = pool.service(fixture, { label: 'host' });
  const retries: RunEvent[] = [];
  const embedder = embedderOf(model, (event) => void (event.type === 'retry' && retries.push(event)));
  for (let round = 0; round < 5; round += 1) {
    const pid = await host.call<number>('pid', null);
    // It takes the batch, and does not come to its end. A batch of one text is not saved by being split.
    process.kill(pid, 'SIGSTOP');
    const embedded = embedder.embed({ text: 'ants' });
    await turn();
    process.kill(pid, 'SIGKILL');
    expect([...(await embedded).vector]).toEqual(meanWithEnds(4));
    expect(retries.splice(0)).toMatchObject([{ error: { code: 'worker_crashed' } }]);
  }
  await model.close();
});

/** The mean over `[CLS] word [SEP]`. */
function meanWithEnds(id: number): number[] {
  const rows = [tinyTable[2]!, tinyTable[id]!, tinyTable[3]!];
  return [0, 1, 2, 3].map((at) => Math.fround(rows.reduce((sum, row) => sum + row[at]!, 0) / 3));
}

function fixtureModel(pool: WorkerPool): EmbeddingModel {
  const service = pool.service(fixture, { label: 'embed' });
  return {
    identity: {
      name: 'fixture',
      weights: '',
      tokenizer: '',
      pooling: 'mean',
      normalize: false,
      prompts: { document: '', query: '' },
      width: 2,
      dtype: 'fp32',
    },
    tokenizer: { file: '', digest: '' },
    maxTokens: 100,
    batchInvariant: true,
    concurrency: pool.size,
    batching: { padded: false, tokens: 10_000, texts: 16 },
    embed: async (texts) => ({
      modelId: 'fixture',
      width: 2,
      vectors: await service.call(
        'embed',
        texts.map(({ text }) => text),
      ),
    }),
    close: () => service.release(),
  };
}
