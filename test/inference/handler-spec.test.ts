import { expect, test } from 'vitest';
import { handlerSpec } from '../../src/inference/handler-spec.js';

const own = { modelId: 'shout@1', run: async (items: readonly unknown[]) => items };

test.each([
  ['concurrency', 0],
  ['concurrency', 1.5],
  ['batchSize', 0],
  ['batchSize', NaN],
])('a handler of one’s own with a %s of %d, with which nothing would ever run, is refused', (name, value) => {
  const refused = handlerSpec.safeParse({ own: { ...own, [name]: value } });
  expect(refused.error?.issues).toMatchObject([
    { path: ['own', name], message: expect.stringContaining('from 1') },
  ]);
});

test('a handler of one’s own stays what it is', () => {
  const handler = { ...own, concurrency: 2, batchSize: 8 };
  expect(handlerSpec.parse({ own: handler }).own).toBe(handler);
});
