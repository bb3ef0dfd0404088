import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLiveModel } from '../../../src/inference/refresh/live-model.js';

/** What happened, in its order. */
let happened: string[];

/** A use of a model that is only a name, and tells when it is closed. */
const lease = (name: string) => ({
  model: name,
  release: () => void happened.push(`${name} released`),
  retire: async () => void happened.push(`${name} closed`),
});

/** A batch that is under way until it is told to end, and tells which model it ran on. */
function batch(live: ReturnType<typeof createLiveModel<string>>) {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const done = live.use(async (model) => {
    happened.push(`${model} runs`);
    await ended;
    happened.push(`${model} ran`);
    return model;
  });
  return { done, end };
}

test('a model that another takes the place of is closed once its last batch has ended, and runs no more of them', async () => {
  happened = [];
  const live = createLiveModel(lease('old'));
  const [first, second] = [batch(live), batch(live)];
  const switched = live.switchTo(lease('new'));
  const third = batch(live);
  first.end();
  third.end();
  expect(await Promise.all([first.done, third.done])).toEqual(['old', 'new']);
  await turn();
  expect(happened).not.toContain('old closed');
  second.end();
  await Promise.all([second.done, switched]);
  expect(happened.slice(-2)).toEqual(['old ran', 'old closed']);
});

test('where there is no room for both the old one ends its batches, is closed, and only then the new one is loaded', async () => {
  happened = [];
  const live = createLiveModel(lease('old'));
  const first = batch(live);
  const replaced = live.replace(async () => {
    happened.push('new loads');
    await turn();
    return lease('new');
  });
  const second = batch(live);
  await turn();
  expect(happened).toEqual(['old runs']);
  first.end();
  second.end();
  expect(await Promise.all([first.done, second.done])).toEqual(['old', 'new']);
  await replaced;
  expect(happened).toEqual(['old runs', 'old ran', 'old closed', 'new loads', 'new runs', 'new ran']);
});
