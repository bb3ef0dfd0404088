import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmbeddingModel, EmbedText } from '../../src/contracts/embedding-model.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { systemClock } from '../../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../../src/inference/load-model.js';
import { createWorkerPool, type WorkerPool } from '../../src/inference/workers/pool.js';
import { createEmbedder } from '../../src/transforms/embed.js';

const texts = ['ants', 'bees', 'cows', 'dogs', 'eels', 'foxes', 'goats', 'hens'];

describe('a model that answers wrongly', () => {
  let pool: WorkerPool;
  let model: EmbeddingModel;
  let right: readonly Float32Array[];

  beforeAll(async () => {
    pool = createWorkerPool({ size: 1 });
    model = await loadEmbeddingModel(
      { static: { model: 'bundled', prompts: {} } },
      { pool, baseFolder: '/', cacheFolder: '/nonexistent', offline: true },
    );
    ({ vectors: right } = await model.embed(
      texts.map((text) => ({ text })),
      'document',
    ));
  });
  afterAll(async () => {
    await model.close();
    await pool.close();
  });

  /** Embeds all texts at once with the real model, its answers changed by `spoil`. */
  async function embedAll(
    spoil: (vectors: Float32Array[], batch: readonly EmbedText[]) => readonly Float32Array[],
  ): Promise<(Float32Array | string)[]> {
    const embedder = createEmbedder({
      model: {
        ...model,
        embed: async (batch, role, signal) => {
          const answer = await model.embed(batch, role, signal);
          return { ...answer, vectors: spoil([...answer.vectors], batch) };
        },
      },
      role: 'document',
      clock: systemClock,
      signal: new AbortController().signal,
      report: () => undefined,
    });
    const results = await Promise.allSettled(texts.map((text) => embedder.embed({ text })));
    return results.map((result) =>
      result.status === 'fulfilled' ? result.value.vector : MillraceError.from(result.reason).code,
    );
  }

  test('short replies to batches: the texts are embedded alone, each with its own vector', async () => {
    const got = await embedAll((vectors) => (vectors.length > 1 ? vectors.slice(1) : vectors));
    expect(got).toEqual(right);
  });

  test('a reply that is always too short or too long is a failure, never a vector', async () => {
    expect(new Set(await embedAll(() => []))).toEqual(new Set(['embedding_invalid']));
    expect(new Set(await embedAll((vectors) => [...vectors, ...vectors]))).toEqual(
      new Set(['embedding_invalid']),
    );
  });

  test.each([
    ['not finite', (vector: Float32Array) => vector.map((value, at) => (at === 7 ? NaN : value))],
    ['infinite', (vector: Float32Array) => vector.map((value, at) => (at === 0 ? Infinity : value))],
    ['zero', (vector: Float32Array) => vector.map(() => 0)],
    ['too narrow', (vector: Float32Array) => vector.slice(1)],
    ['too wide', (vector: Float32Array) => Float32Array.from([...vector, 1])],
  ])('a vector that is %s fails its text alone', async (_, spoil) => {
    const got = await embedAll((vectors, batch) =>
      vectors.map((vector, at) => (batch[at]!.text === 'cows' ? spoil(vector) : vector)),
    );
    expect(got[2]).toBe('embedding_invalid');
    expect(got.toSpliced(2, 1)).toEqual(right.toSpliced(2, 1));
  });

  test('a vector that only its batch spoilt is made again alone', async () => {
    const got = await embedAll((vectors, batch) =>
      batch.length === 1 ? vectors : vectors.map((vector, at) => (at === 0 ? vector : vector.map(() => NaN))),
    );
    expect(got).toEqual(right);
  });

  test('a vector whose first or last component is exactly 0 is good', async () => {
    const got = await embedAll((vectors) =>
      vectors.map((vector) => vector.map((value, at) => (at === 0 || at === vector.length - 1 ? 0 : value))),
    );
    for (const vector of got) expect(vector).toBeInstanceOf(Float32Array);
  });
});
