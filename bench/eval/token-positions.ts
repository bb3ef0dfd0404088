import type { Interval } from './intervals.js';

/**
 * Turns intervals of UTF-16 code units into intervals of tokens. A token belongs to where it begins, so that chunks that
 * do not overlap share none.
 * @param starts where each token of the text begins; never falls
 */
export function tokenPositions(starts: Int32Array): (interval: Interval) => Interval {
  function firstFrom(unit: number): number {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! < unit) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  return ({ start, end }) => ({ start: firstFrom(start), end: firstFrom(end) });
}
