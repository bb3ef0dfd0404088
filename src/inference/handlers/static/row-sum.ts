import { brainFloats, halfFloats } from './half-floats.js';
import type { TokenVectors } from './token-vectors.js';

/** Adds `count` rows, each times its weight, to `sum`. `offsets` are where the rows begin, in values. */
export type AddRows = (sum: Float32Array, offsets: Int32Array, weights: Float32Array, count: number) => void;

/**
 * The inner loop of the static handler. Four rows at a time: the sum is read and written once for the four, which
 * doubles the speed. The grouping depends on the count alone, so equal tokens give equal bits.
 */
export function createAddRows({ dtype, rows }: TokenVectors): AddRows {
  switch (dtype) {
    case 'int8':
      return addPlain(new Int8Array(rows));
    case 'fp32':
      return addPlain(new Float32Array(rows));
    case 'fp16':
      return addCoded(new Uint16Array(rows), halfFloats());
    case 'bf16':
      return addCoded(new Uint16Array(rows), brainFloats());
    default:
      return dtype satisfies never;
  }
}

function addPlain(values: Int8Array | Float32Array): AddRows {
  return (sum, offsets, weights, count) => addFours(values, sum, offsets, weights, count);
}

/** A function of the module and no closure: V8 then compiles the loop by itself, which made it a quarter faster. */
function addFours(
  values: Int8Array | Float32Array,
  sum: Float32Array,
  offsets: Int32Array,
  weights: Float32Array,
  count: number,
): void {
  const width = sum.length;
  let row = 0;
  for (; row + 3 < count; row += 4) {
    const a = offsets[row]!;
    const b = offsets[row + 1]!;
    const c = offsets[row + 2]!;
    const d = offsets[row + 3]!;
    const wa = weights[row]!;
    const wb = weights[row + 1]!;
    const wc = weights[row + 2]!;
    const wd = weights[row + 3]!;
    for (let at = 0; at < width; at++)
      sum[at]! += values[a + at]! * wa + values[b + at]! * wb + values[c + at]! * wc + values[d + at]! * wd;
  }
  for (; row < count; row++) {
    const a = offsets[row]!;
    const wa = weights[row]!;
    for (let at = 0; at < width; at++) sum[at]! += values[a + at]! * wa;
  }
}

/** For types that JavaScript has no array of: `table` holds the value of each of the 65,536 codes. */
function addCoded(codes: Uint16Array, table: Float32Array): AddRows {
  return (sum, offsets, weights, count) => {
    const width = sum.length;
    for (let row = 0; row < count; row++) {
      const a = offsets[row]!;
      const wa = weights[row]!;
      for (let at = 0; at < width; at++) sum[at]! += table[codes[a + at]!]! * wa;
    }
  };
}
