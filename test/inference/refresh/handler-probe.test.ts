import { expect, test } from 'vitest';
import type { ModelHandler } from '../../../src/contracts/model-handler.js';
import type { Json } from '../../../src/elements/metadata.js';
import { handlerProbe } from '../../../src/inference/refresh/handler-probe.js';

const items = ['a', 'b'];
const probe = handlerProbe<Json, Json>(items);
const signal = new AbortController().signal;

const handler = (results: readonly (Json | Error)[], modelId = 'm'): ModelHandler<Json, Json> => ({
  modelId: 'm',
  concurrency: 1,
  batching: { items: 8, cost: 8, costOf: () => 1, padded: false },
  run: async () => ({ modelId, results }),
  close: async () => undefined,
});
const judged = async (next: readonly (Json | Error)[], old: readonly (Json | Error)[] = ['x', 'y']) => {
  const before = await probe.sample(handler(old), signal);
  probe.judge(await probe.sample(handler(next), signal), before, before);
};

test('sound results pass, also with an error where the old model gave one', async () => {
  await judged([{ label: 'x', score: 0.5 }, [0, 1]]);
  await judged(['x', new Error('not this task')], ['x', new Error('nor before')]);
});

test.each([
  ['too few', ['x'], 'gave 1 results for 2 items'],
  ['an error', ['x', new Error('out of order')], 'out of order'],
  ['a number that is not finite', ['x', { labels: [{ score: NaN }] }], 'not finite'],
])('%s does not pass', async (_, results, why) => {
  const error: unknown = await judged(results as (Json | Error)[]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'probe_failed', message: expect.stringContaining(why) as string });
});

test('a model whose results carry another name does not pass', async () => {
  await expect(probe.sample(handler(['x', 'y'], 'other'), signal)).rejects.toMatchObject({
    code: 'probe_failed',
  });
});
