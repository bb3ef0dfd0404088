/** Bounds of a 95 % interval. */
export type Bounds = readonly [low: number, high: number];

/**
 * The interval between the 2.5th and the 97.5th percentile of a statistic over resamples, drawn with replacement
 * (Efron's percentile bootstrap). Statistics of one count see the same resamples, so that ratios are paired.
 * @param count items in the sample, from 1
 * @param statistic of a resample, given as the indices of its items
 */
export function bootstrap(
  count: number,
  statistic: (indices: Int32Array) => number,
  { resamples = 1000, seed = 1 } = {},
): Bounds {
  const next = randomNumbers(seed);
  const indices = new Int32Array(count);
  const values = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; resample++) {
    for (let at = 0; at < count; at++) indices[at] = Math.floor(next() * count);
    values[resample] = statistic(indices);
  }
  values.sort();
  return [quantile(values, 0.025), quantile(values, 0.975)];
}

/** The mean over the items named by `indices`. */
export function meanOf(values: readonly number[], indices: Int32Array): number {
  let sum = 0;
  for (const index of indices) sum += values[index]!;
  return sum / indices.length;
}

/** Linear between the two nearest. */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (at - below);
}

/** Uniform from 0 to below 1: mulberry32 (Tommy Ettinger, public domain). */
function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
