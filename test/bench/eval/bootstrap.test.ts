import { describe, expect, test } from 'vitest';
import { bootstrap, meanOf } from '../../../bench/eval/bootstrap.js';

const values = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? 1 : 0));
const mean = (indices: Int32Array) => meanOf(values, indices);

describe('the bootstrap interval', () => {
  test('is the same for the same seed and another for another', () => {
    expect(bootstrap(values.length, mean, { seed: 7 })).toEqual(bootstrap(values.length, mean, { seed: 7 }));
    expect(bootstrap(values.length, mean, { seed: 7 })).not.toEqual(
      bootstrap(values.length, mean, { seed: 8 }),
    );
  });

  test('of a mean is as wide as the normal distribution says: 1.96 standard errors to each side', () => {
    const [low, high] = bootstrap(values.length, mean, { resamples: 4000 });
    const error = 0.5 / Math.sqrt(values.length);
    expect(low).toBeCloseTo(0.5 - 1.96 * error, 2);
    expect(high).toBeCloseTo(0.5 + 1.96 * error, 2);
  });

  test('has no width where all items are equal', () => {
    expect(bootstrap(9, (indices) => meanOf(new Array<number>(9).fill(0.25), indices))).toEqual([0.25, 0.25]);
  });

  test('draws every item, and with replacement', () => {
    const seen = new Set<number>();
    let repeated = false;
    bootstrap(10, (indices) => {
      for (const index of indices) seen.add(index);
      repeated ||= new Set(indices).size < 10;
      return 0;
    });
    expect(seen.size).toBe(10);
    expect(repeated).toBe(true);
  });
});
