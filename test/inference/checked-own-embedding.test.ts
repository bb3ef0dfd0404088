import { expect, test } from 'vitest';
import type { EmbeddingModel } from '../../src/contracts/embedding-model.js';
import { openOwnEmbedding } from '../../src/inference/open-own-embedding.js';
import { ownEmbedding } from '../support/own-embedding.js';

const { signal } = new AbortController();

/** What comes of a batch of two texts where the model answers it so. */
async function embed(answer: () => unknown) {
  const load = async () => ({
    ...(await ownEmbedding({ name: 'ours' }).load()),
    embed: answer as EmbeddingModel['embed'],
  });
  const model = await openOwnEmbedding({ load }, signal);
  return model.embed([{ text: 'ants' }, { text: 'bees' }], 'document', signal);
}

const vector = Float32Array.of(1, 0);

test.each([
  ['nothing', undefined, 'no list of `vectors`'],
  ['the bare vectors', [vector, vector], 'no list of `vectors`'],
  ['lists of numbers', { modelId: 'a', width: 2, vectors: [[1, 0]] }, 'no Float32Array'],
  ['no width', { modelId: 'a', vectors: [vector, vector] }, 'no `width`'],
  ['no name', { width: 2, vectors: [vector, vector] }, 'no `modelId`'],
])('an own model that gives %s is told what its answer lacks', async (_, answer, lack) => {
  await expect(embed(async () => answer)).rejects.toMatchObject({
    code: 'embedding_invalid',
    message: expect.stringContaining(`The model ours gave`) as string,
  });
  await expect(embed(async () => answer)).rejects.toThrow(lack);
});

test('promises in place of vectors fail the batch, and end nothing when they are rejected', async () => {
  const late = () => Promise.reject(new Error('late'));
  await expect(embed(async () => ({ modelId: 'a', width: 2, vectors: [late(), late()] }))).rejects.toThrow(
    'promises in place of vectors',
  );
  // An unhandled rejection would come with the next turn, and fail the test run.
  await new Promise((resolve) => setImmediate(resolve));
});

test('what an own model throws is a failure of the model, with its message', async () => {
  const failing = () => {
    throw new Error('out of ink');
  };
  await expect(embed(failing)).rejects.toMatchObject({
    code: 'inference_failed',
    message: 'The model ours failed: out of ink',
  });
  await expect(openOwnEmbedding({ load: failing }, signal)).rejects.toMatchObject({
    code: 'inference_failed',
    message: '`own.load` opened no model: out of ink',
  });
});
