/** Indices of the `count` greatest scores, greatest first; of equal scores the earlier one. */
export function best(scores: Float64Array, count: number): number[] {
  return [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, count);
}
