/** A half-open range of positions: `start` to before `end`. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The positions that are in any of the intervals, as intervals that rise and touch nowhere. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** Positions in a union. */
export function size(joined: readonly Interval[]): number {
  return joined.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Positions that are in both of two unions. */
export function shared(a: readonly Interval[], b: readonly Interval[]): number {
  let sum = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i]!, b[j]!];
    sum += Math.max(0, Math.min(left.end, right.end) - Math.max(left.start, right.start));
    if (left.end < right.end) i++;
    else j++;
  }
  return sum;
}
