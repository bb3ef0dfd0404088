import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shared, size, union, type Interval } from '../../../bench/eval/intervals.js';

const intervals = fc.array(
  fc.record({ start: fc.nat(40), length: fc.nat(10) }).map(({ start, length }) => ({
    start,
    end: start + length,
  })),
  { maxLength: 8 },
);

function positions(of: readonly Interval[]): Set<number> {
  const all = new Set<number>();
  for (const { start, end } of of) for (let at = start; at < end; at++) all.add(at);
  return all;
}

describe('a union of intervals', () => {
  test('joins what overlaps or touches, in whatever order, and drops what is empty', () => {
    const parts = [
      { start: 8, end: 9 },
      { start: 2, end: 5 },
      { start: 5, end: 6 },
      { start: 0, end: 3 },
      { start: 7, end: 7 },
    ];
    expect(union(parts)).toEqual([
      { start: 0, end: 6 },
      { start: 8, end: 9 },
    ]);
  });

  test('keeps an interval that holds a later one whole', () => {
    const parts = [
      { start: 0, end: 10 },
      { start: 2, end: 3 },
      { start: 4, end: 12 },
    ];
    expect(union(parts)).toEqual([{ start: 0, end: 12 }]);
  });

  test('has as many positions as there are in any of them, each counted once', () => {
    fc.assert(fc.property(intervals, (parts) => size(union(parts)) === positions(parts).size));
  });

  test('shares with another exactly the positions that are in both', () => {
    fc.assert(
      fc.property(intervals, intervals, (a, b) => {
        const other = positions(b);
        const both = [...positions(a)].filter((at) => other.has(at)).length;
        return shared(union(a), union(b)) === both;
      }),
    );
  });
});
