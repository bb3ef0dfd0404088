import { describe, expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { BatchBudget } from '../../src/flow/batch-budget.js';
import { seededRandom } from '../support/seeded-random.js';
import { simulate, type SimulatedBatch } from './batch-simulation.js';

/** The service of DESIGN's example: with a latency target of 100 ms the ideal is 80 texts. */
const service = (texts: number) => 20 + texts;
const latencyMs = 100;
const ideal = 80;
const seeds = [1, 2, 3, 4, 5];

const sizes = (batches: readonly SimulatedBatch[]) => batches.map(({ texts }) => texts);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('the budget of a batch', () => {
  test('grows from few texts to the most that keep to the latency target, and never beyond', async () => {
    const { batches } = await simulate({ service, batches: 400, latencyMs });
    expect(Math.max(...batches.map(({ ms }) => ms))).toBeLessThanOrEqual(latencyMs);
    expect(Math.min(...sizes(batches.slice(50)))).toBeGreaterThanOrEqual(0.95 * ideal);
    batches.slice(1).forEach(({ texts }, at) => {
      expect(texts).toBeLessThanOrEqual(Math.ceil(batches[at]!.texts * 1.25));
    });
  });

  test.each(seeds)('follows at once when a text costs ten times as much (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const change = 300 + Math.floor(random() * 50);
    const noise = () => 0.95 + random() * 0.1;
    const { batches } = await simulate({
      service: (texts, batch) => (20 + texts * (batch < change ? 1 : 10)) * noise(),
      batches: change + 200,
      latencyMs,
    });
    const dear = sizes(batches.slice(change));
    expect(dear[0]).toBeGreaterThan(50);
    expect(Math.max(...dear.slice(1))).toBeLessThanOrEqual(2 * 8);
    expect(mean(dear.slice(20))).toBeGreaterThan(0.7 * 8);
  });

  test('grows again when texts are cheap again', async () => {
    const { batches } = await simulate({
      service: (texts, batch) => 20 + texts * (batch >= 300 && batch < 350 ? 10 : 1),
      batches: 500,
      latencyMs,
    });
    expect(mean(sizes(batches.slice(320, 350)))).toBeLessThan(10);
    expect(mean(sizes(batches.slice(-100)))).toBeGreaterThan(0.8 * ideal);
  });

  test.each([0.01, 0.2].flatMap((share) => seeds.map((seed) => [share, seed] as const)))(
    'stays near the ideal while a share of %d of the batches stalls for 10 s (seed %i)',
    async (share, seed) => {
      const random = seededRandom(seed);
      const { batches } = await simulate({
        service: (texts) => service(texts) * (0.9 + random() * 0.2) + (random() < share ? 10_000 : 0),
        batches: 1_500,
        latencyMs,
      });
      const settled = sizes(batches.slice(100));
      const near = settled.filter((size) => size >= 0.7 * ideal && size <= 1.3 * ideal);
      expect(near.length / settled.length).toBeGreaterThan(0.98);
      expect(Math.max(...settled)).toBeLessThanOrEqual(1.3 * ideal);
    },
  );

  test('believes that every batch is a hundred times slower after seven of them', async () => {
    const { batches } = await simulate({
      service: (texts, batch) => service(texts) * (batch < 300 ? 1 : 100),
      batches: 312,
      latencyMs,
    });
    expect(Math.max(...sizes(batches.slice(307)))).toBe(1);
  });

  test('single texts, 200 a second, go several together within the latency target', async () => {
    const { batches, waits } = await simulate({ service, batches: 500, every: 5, latencyMs });
    expect(mean(sizes(batches.slice(50)))).toBeGreaterThan(1);
    const sorted = [...waits].sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length * 0.95)]).toBeLessThanOrEqual(latencyMs);
  });

  test.each(seeds)('without a target it stops growing where throughput does (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    // Beyond 200 texts each costs more: they fall out of the cache.
    const { batches } = await simulate({
      service: (texts) => (20 + texts + Math.max(0, texts - 200) * 3) * (0.97 + random() * 0.06),
      batches: 1_500,
    });
    expect(mean(sizes(batches.slice(-300)))).toBeGreaterThan(120);
    expect(Math.max(...sizes(batches.slice(-300)))).toBeLessThan(320);
  });

  test.each(seeds)(
    'stays where it is while no size is better, whatever else makes batches faster (seed %i)',
    (seed) => {
      const random = seededRandom(seed);
      const start = 448;
      const budget = new BatchBudget({ start, min: 128, max: 4_096 });
      const limits: number[] = [];
      // Backlogs drain from the longest text to the shortest, and a token of a short one takes less time.
      for (let backlog = 0; backlog < 6; backlog += 1)
        for (let tokens = 0, length = 256; length > 8; length = 256 - Math.floor(tokens / 1_400)) {
          const limit = budget.next();
          const cost = Math.max(1, Math.floor(limit / length)) * length;
          budget.served({ limit, cost, ms: (cost / 25) * (1 + length / 600) * (0.95 + random() * 0.1) });
          tokens += cost;
          limits.push(limit);
        }
      expect(mean(limits)).toBeGreaterThan(start / 1.3);
      expect(mean(limits)).toBeLessThan(start * 1.3);
    },
  );

  test.each(seeds)('comes back to where it began once nothing speaks for another size (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const start = 448;
    const budget = new BatchBudget({ start, min: 128, max: 4_096 });
    const serve = (count: number, fixedMs: number) => {
      const limits: number[] = [];
      for (let batch = 0; batch < count; batch += 1) {
        const limit = budget.next();
        limits.push(limit);
        budget.served({ limit, cost: limit, ms: (fixedMs + limit / 25) * (0.95 + random() * 0.1) });
      }
      return mean(limits.slice(-100));
    };
    expect(serve(600, 40)).toBeGreaterThan(2 * start);
    const last = serve(4_000, 0);
    expect(last).toBeGreaterThan(start / 1.3);
    expect(last).toBeLessThan(start * 1.3);
  });

  test('a batch that does not fit into memory is halved, tried again, and nothing fails', async () => {
    const limit = 60;
    let refused = 0;
    const { batches, waits, failed } = await simulate({
      service: (texts) => {
        if (texts <= limit) return service(texts);
        refused += 1;
        throw new MillraceError('out_of_memory', 'the device is full');
      },
      batches: 800,
    });
    expect(failed).toBe(0);
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(10);
    expect(waits.length).toBeGreaterThan(800 * 30);
    expect(mean(sizes(batches.slice(-200)))).toBeGreaterThan(limit / 2);
  });

  test('a batch of half the size follows one that did not fit', () => {
    const budget = new BatchBudget({ start: 1_000, min: 10, max: 4_000 });
    budget.outOfMemory(1_000);
    expect(budget.next()).toBe(500);
    // Others that were under way with the old size say nothing new.
    budget.outOfMemory(1_000);
    expect(budget.next()).toBe(500);
    for (let count = 0; count < 20; count += 1) budget.outOfMemory(budget.next());
    expect(budget.next()).toBe(10);
  });

  test('stays within its bounds', async () => {
    const { batches } = await simulate({
      service,
      batches: 300,
      latencyMs: 30,
      options: { maxCost: new BatchBudget({ start: 20, min: 16, max: 24, latencyMs: 30 }) },
    });
    expect(Math.min(...sizes(batches))).toBeGreaterThanOrEqual(16);
    expect(Math.max(...sizes(batches))).toBeLessThanOrEqual(24);
  });
});
