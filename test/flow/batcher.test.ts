import { describe, expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { setImmediate as turn } from 'node:timers/promises';
import { Batcher } from '../../src/flow/batcher.js';

const settings = { cost: () => 1, maxCost: 100, maxItems: 100, concurrency: 1 };

describe('batcher', () => {
  test('items of one turn of the event loop go together, and each caller gets its own result', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>({
      ...settings,
      run: async (items) => {
        batches.push([...items]);
        return items.map((item) => item * 2);
      },
    });
    const results = await Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
    expect(results).toEqual([2, 4, 6]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  test('of many items submitted at once each leaves its result or its error in its place', async () => {
    const batcher = new Batcher<number, number>({
      ...settings,
      run: async (items) =>
        items.map((item) => (item === 2 ? new MillraceError('item_malformed', 'Two.') : item * 10)),
    });
    const results = await batcher.submitEach([1, 2, 3]);
    expect(results).toEqual([10, expect.objectContaining({ code: 'item_malformed' }), 30]);
    expect(await batcher.submitEach([])).toEqual([]);
    await expect(batcher.submitAll([1, 2, 3])).rejects.toMatchObject({ code: 'item_malformed' });
  });

  test('what is withdrawn while it waits is rejected and goes into no batch', async () => {
    const batches: number[][] = [];
    let finish: () => void = () => undefined;
    const batcher = new Batcher<number, number>({
      ...settings,
      run: async (items) => {
        batches.push([...items]);
        if (batches.length === 1) await new Promise<void>((resolve) => (finish = resolve));
        return [...items];
      },
    });
    const first = batcher.submit(1);
    await turn();
    const withdrawn = new AbortController();
    const all = [batcher.submitAll([2, 3], withdrawn.signal), batcher.submitAll([4])];
    withdrawn.abort(new Error('left'));
    finish();
    expect(await Promise.allSettled([first, ...all])).toMatchObject([
      { value: 1 },
      { reason: { message: 'left' } },
      { value: [4] },
    ]);
    expect(batches).toEqual([[1], [4]]);
    expect(batcher.idle).toBe(true);
  });

  test('a batch keeps to its count and its cost, and an item over the cost runs alone', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>({
      cost: (item) => item,
      maxCost: 10,
      maxItems: 3,
      concurrency: 1,
      run: async (items) => {
        batches.push([...items]);
        return [...items];
      },
    });
    await Promise.all([1, 1, 1, 1, 50, 6, 5].map((item) => batcher.submit(item)));
    expect(batches).toEqual([[1, 1, 1], [1], [50], [6], [5]]);
  });

  test('padded batches hold items of similar size, and the oldest item is in the next batch', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>({
      cost: (item) => item,
      padded: true,
      maxCost: 400,
      maxItems: 50,
      concurrency: 1,
      run: async (items) => {
        batches.push([...items]);
        return [...items];
      },
    });
    const sizes = [100, 5, 90, 7, 95, 6, 100, 8];
    await Promise.all(sizes.map((item) => batcher.submit(item)));
    expect(batches[0]).toContain(100);
    for (const batch of batches) expect(batch.length * Math.max(...batch)).toBeLessThanOrEqual(400);
    const padding = batches.reduce((sum, batch) => sum + batch.length * Math.max(...batch), 0);
    expect(padding).toBeLessThan(sizes.length * 100);
    expect(batches.flat().sort((a, b) => a - b)).toEqual([...sizes].sort((a, b) => a - b));
  });

  test('no more batches than allowed are under way', async () => {
    let underWay = 0;
    let most = 0;
    const batcher = new Batcher<number, number>({
      ...settings,
      maxItems: 1,
      concurrency: 3,
      run: async (items) => {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setTimeout(resolve, 2));
        underWay -= 1;
        return [...items];
      },
    });
    await Promise.all(Array.from({ length: 20 }, (_, item) => batcher.submit(item)));
    expect(most).toBe(3);
  });

  test('a batch that fails is split until the bad item is alone: its neighbours succeed', async () => {
    let runs = 0;
    const batcher = new Batcher<number, number>({
      ...settings,
      run: async (items) => {
        runs += 1;
        if (items.includes(13)) throw new MillraceError('inference_failed', 'the model choked');
        return [...items];
      },
    });
    const results = await Promise.allSettled(Array.from({ length: 64 }, (_, item) => batcher.submit(item)));
    expect(
      results
        .map(({ status }, item) => (status === 'rejected' ? item : undefined))
        .filter((item) => item !== undefined),
    ).toEqual([13]);
    expect(runs).toBeLessThanOrEqual(1 + 2 * Math.log2(64));
  });

  test('an outage is no fault of an item: the batch is not split', async () => {
    let runs = 0;
    const batcher = new Batcher<number, number>({
      ...settings,
      run: async () => {
        runs += 1;
        throw new MillraceError('store_unavailable', 'gone');
      },
    });
    const results = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(runs).toBe(1);
  });

  test('an Error among the results fails that item alone', async () => {
    const batcher = new Batcher<number, number>({
      ...settings,
      run: async (items) => items.map((item) => (item === 2 ? new Error('two') : item)),
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('a wrong number of results is never paired by position', async () => {
    const batcher = new Batcher<number, number>({ ...settings, run: async (items) => items.slice(1) });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  });
});

describe('a batcher given many items at once', () => {
  test('gives one result each, in their order, over several batches', async () => {
    const batcher = new Batcher<number, number>({
      run: async (items) => items.map((item) => item * 2),
      cost: () => 1,
      maxCost: 2,
      maxItems: 2,
      concurrency: 1,
    });
    expect(await batcher.submitAll([5, 4, 3, 2, 1])).toEqual([10, 8, 6, 4, 2]);
    expect(await batcher.submitAll([])).toEqual([]);
  });

  test('rejects with the error of the item that fails', async () => {
    const batcher = new Batcher<number, number>({
      run: async (items) => items.map((item) => (item === 2 ? new Error('two') : item)),
      cost: () => 1,
      maxCost: 10,
      maxItems: 10,
      concurrency: 1,
    });
    await expect(batcher.submitAll([1, 2, 3])).rejects.toThrow('two');
  });
});

describe('a batcher with idle workers', () => {
  const run = async (items: readonly number[]) => [...items];

  test('shares what waits out among them, but not below the least size', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>({
      ...settings,
      concurrency: 2,
      shareFrom: 4,
      run: (items) => {
        batches.push([...items]);
        return run(items);
      },
    });
    await batcher.submitAll([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(batches.map(({ length }) => length)).toEqual([5, 5]);
    await batcher.submitAll([1, 2, 3, 4, 5]);
    expect(batches.slice(2).map(({ length }) => length)).toEqual([4, 1]);
  });
});

test('the last batches of a backlog are smaller, so that all workers end together', async () => {
  const batches: number[] = [];
  const batcher = new Batcher<number, number>({
    cost: () => 1,
    maxCost: 20,
    maxItems: 100,
    concurrency: 4,
    shareFrom: 2,
    run: async (items) => {
      batches.push(items.length);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return [...items];
    },
  });
  await batcher.submitAll(Array.from({ length: 100 }, (_, item) => item));
  expect(batches.slice(0, 4)).toEqual([20, 20, 20, 20]);
  expect(Math.max(...batches.slice(4))).toBeLessThanOrEqual(10);
  expect(batches.at(-1)).toBeLessThanOrEqual(5);
});

describe('a batcher that may wait', () => {
  const clock = new VirtualClock(0);
  const slow = (concurrency: number) => {
    const batches: number[] = [];
    const batcher = new Batcher<number, number>({
      ...settings,
      maxItems: 4,
      concurrency,
      wait: { ms: 50, clock, signal: new AbortController().signal },
      run: async (items) => {
        batches.push(items.length);
        await clock.sleep(1_000);
        return [...items];
      },
    });
    return { batcher, batches };
  };
  const settle = async () => {
    for (let count = 0; count < 4; count += 1) await turn();
  };

  test('starts at once when nothing is under way, and waits for more while a batch is', async () => {
    const { batcher, batches } = slow(3);
    void batcher.submit(1);
    await settle();
    expect(batches).toEqual([1]);
    void batcher.submit(2);
    await settle();
    clock.advance(40);
    void batcher.submit(3);
    await settle();
    expect(batches).toEqual([1]);
    clock.advance(10);
    await settle();
    expect(batches).toEqual([1, 2]);
    clock.advance(2_000);
  });

  test('leaves no timer behind when a batch goes before its time', async () => {
    const { batcher, batches } = slow(3);
    void batcher.submit(1);
    await settle();
    void batcher.submit(2);
    await settle();
    expect(clock.sleeping).toBe(2);
    void batcher.submitAll([3, 4, 5]);
    await settle();
    expect(batches).toEqual([1, 4]);
    // The two batches themselves.
    expect(clock.sleeping).toBe(2);
    clock.advance(2_000);
  });

  test('does not wait once a batch is full, or the last one is done', async () => {
    const { batcher, batches } = slow(3);
    void batcher.submit(1);
    await settle();
    void batcher.submitAll([2, 3, 4, 5]);
    await settle();
    expect(batches).toEqual([1, 4]);
    clock.advance(990);
    void batcher.submit(6);
    await settle();
    expect(batches).toEqual([1, 4]);
    clock.advance(10);
    await settle();
    expect(batches).toEqual([1, 4, 1]);
    clock.advance(2_000);
  });
});
