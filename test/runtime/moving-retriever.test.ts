import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { generationMoved } from '../../src/errors/search-faults.js';
import type { Retriever } from '../../src/retrieval/retriever.js';
import { createMovingRetriever } from '../../src/runtime/generations/moving-retriever.js';

/** A retriever that counts how often it was closed, and answers as it is told to. */
function counting(answer: (text: string) => Promise<never[]>) {
  const state = { closes: 0 };
  const retriever: Retriever = {
    retrieve: async (text) => {
      if (state.closes > 0) throw new Error('it is closed');
      return answer(text);
    },
    document: async () => undefined,
    count: async () => ({ documents: 0, chunks: 0 }),
    close: async () => void (state.closes += 1),
  };
  return { retriever, state };
}

const moved = () => Promise.reject(generationMoved('handbook', 2, 1));

test('calls that meet a switch at once open the new generation once, and nothing is left open', async () => {
  const old = counting(moved);
  const opened: ReturnType<typeof counting>[] = [];
  const moving = createMovingRetriever(
    old.retriever,
    async () => {
      await sleep(1);
      opened.push(counting(async () => []));
      return opened.at(-1)!.retriever;
    },
    async () => undefined,
  );
  await Promise.all([1, 2, 3].map((at) => moving.retrieve(`question ${at}`)));
  expect(opened).toHaveLength(1);
  await moving.close();
  expect([old, ...opened].map(({ state }) => state.closes)).toEqual([1, 1]);
});

test('where the new generation cannot be opened, the old one is not closed under those who still ask it', async () => {
  let answerSlow: () => void = () => undefined;
  const old = counting((text) => {
    if (text === 'slow') return new Promise((resolve) => (answerSlow = () => resolve([])));
    return text === 'moved' ? moved() : Promise.resolve([]);
  });
  const moving = createMovingRetriever(
    old.retriever,
    () => Promise.reject(new Error('the store is away')),
    async () => undefined,
  );
  const slow = moving.retrieve('slow');
  await expect(moving.retrieve('moved')).rejects.toThrow('the store is away');
  answerSlow();
  expect(await slow).toEqual([]);
  expect(await moving.retrieve('later')).toEqual([]);
  expect(old.state.closes).toBe(0);
  await moving.close();
});
