import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchesOfAnAge, QueueBySize } from '../../src/flow/queue-by-size.js';
import { seededRandom } from '../support/seeded-random.js';

interface Item {
  readonly size: number;
  readonly came: number;
}

const limits = fc.record({ cost: fc.integer({ min: 1, max: 500 }), items: fc.integer({ min: 1, max: 20 }) });

describe('a queue by size', () => {
  test('gives every item once, within the limit, and always one of the oldest', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 30 }), { maxLength: 12 }),
        limits,
        fc.constantFrom(0, 0.2, 1),
        (arrivals, limit, mostPadding) => {
          const queue = new QueueBySize<Item>(mostPadding);
          const waiting = new Set<Item>();
          let taken = 0;
          const takeOne = () => {
            const oldest = Math.min(...[...waiting].map(({ came }) => came));
            const batch = queue.take(limit);
            taken += 1;
            expect(batch.length).toBeGreaterThan(0);
            expect(batch.some(({ came }) => came === oldest)).toBe(true);
            expect(batch.length).toBeLessThanOrEqual(limit.items);
            if (batch.length > 1) expect(queue.costOf(batch)).toBeLessThanOrEqual(limit.cost);
            for (const item of batch) expect(waiting.delete(item)).toBe(true);
          };
          arrivals.forEach((sizes) => {
            for (const size of sizes) {
              const item = { size, came: Math.floor(taken / batchesOfAnAge) };
              waiting.add(item);
              queue.add(item);
            }
            if (waiting.size > 0) takeOne();
          });
          while (waiting.size > 0) takeOne();
          expect(queue).toMatchObject({ length: 0, size: 0 });
          expect(queue.take(limit)).toEqual([]);
        },
      ),
    );
  });

  test('drains a backlog from the largest down', () => {
    const queue = new QueueBySize<{ size: number }>();
    for (const size of [3, 9, 1, 9, 4, 2, 8]) queue.add({ size });
    const taken = [];
    while (queue.length > 0) taken.push(queue.take({ cost: 18, items: 10 }).map(({ size }) => size));
    expect(taken).toEqual([
      [9, 9],
      [8, 4],
      [3, 2, 1],
    ]);
  });

  test('a lone size is served in time although others never end', () => {
    const queue = new QueueBySize<{ size: number }>();
    const add = (count: number) => Array.from({ length: count }, () => queue.add({ size: 10 }));
    add(10 * (batchesOfAnAge + 9));
    for (let batch = 0; batch < batchesOfAnAge; batch += 1) queue.take({ cost: 100, items: 100 });
    queue.add({ size: 500 });
    let batches = 0;
    for (let found = false; !found; batches += 1) {
      add(10);
      found = queue.take({ cost: 100, items: 100 }).some(({ size }) => size === 500);
    }
    // The 90 that were there before it, ten at a time, then itself.
    expect(batches).toBe(10);
  });

  test('100,000 waiting items cost a batch no more than 1,000 do', () => {
    const timeABatch = (count: number) => {
      const random = seededRandom(1);
      const queue = new QueueBySize<{ size: number }>();
      for (let item = 0; item < count; item += 1) queue.add({ size: 8 + Math.floor(random() * 504) });
      const times = Array.from({ length: 30 }, () => {
        const began = performance.now();
        queue.take({ cost: 2_048, items: 256 });
        return performance.now() - began;
      });
      return times.sort((a, b) => a - b)[15]!;
    };
    timeABatch(1_000);
    expect(timeABatch(100_000)).toBeLessThan(10 * timeABatch(1_000) + 0.1);
  });

  test('leaves what would be mostly padding for another batch, unless the batch is a small one', () => {
    const sizes = [100, 95, 81, 79, 40, 8, 7];
    const batches = (mostPadding: number, cost: number) => {
      const queue = new QueueBySize<{ size: number }>(mostPadding);
      for (const size of sizes) queue.add({ size });
      const taken: number[][] = [];
      while (queue.length > 0) taken.push(queue.take({ cost, items: 99 }).map(({ size }) => size));
      return taken;
    };
    expect(batches(1, 800)).toEqual([sizes]);
    expect(batches(0.2, 800)).toEqual([
      [100, 95, 81],
      [79, 40],
      [8, 7],
    ]);
    expect(batches(0.2, 10_000)).toEqual([sizes]);
  });
});
