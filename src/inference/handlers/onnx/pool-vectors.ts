import type { Pooling } from '../../../contracts/embedding-model.js';
import type { PaddedBatch } from './padded-batch.js';

/** Token vectors of a batch: shape [rows, length, width]. */
export interface TokenVectors {
  readonly data: Float32Array;
  readonly width: number;
}

/**
 * One vector a row, shape [rows, width], from the vectors of its tokens; padding never counts. The formulas are those of
 * sentence-transformers' Pooling and Normalize: the mean over the attention mask (special tokens included), the first
 * token, the maximum of each component, the last token; then divided by the Euclidean norm.
 */
export function poolVectors(
  { data, width }: TokenVectors,
  { rows, length, counts }: Pick<PaddedBatch, 'rows' | 'length' | 'counts'>,
  pooling: Pooling,
  normalize: boolean,
): Float32Array {
  const pooled = new Float32Array(rows * width);
  const sum = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    const count = counts[row]!;
    const token = (index: number) => {
      const start = (row * length + index) * width;
      return data.subarray(start, start + width);
    };
    switch (pooling) {
      case 'mean':
        addTokens(data, row * length * width, count, sum);
        for (let at = 0; at < width; at++) sum[at]! /= count;
        break;
      case 'max':
        sum.fill(-Infinity);
        for (let index = 0; index < count; index++) {
          const vector = token(index);
          for (let at = 0; at < width; at++) if (!(vector[at]! <= sum[at]!)) sum[at] = vector[at]!;
        }
        break;
      case 'cls':
        sum.set(token(0));
        break;
      case 'last':
        sum.set(token(count - 1));
        break;
      default:
        pooling satisfies never;
    }
    if (normalize) divideByNorm(sum);
    pooled.set(sum, row * width);
  }
  return pooled;
}

/**
 * Puts the sums of `count` tokens' vectors, one after another from `start`, into `sum`. Each is added in its turn, as a
 * plain loop would; four at a time are read for each sum that is written.
 */
function addTokens(data: Float32Array, start: number, count: number, sum: Float64Array): void {
  const width = sum.length;
  sum.fill(0);
  let index = 0;
  for (; index + 4 <= count; index += 4) {
    const first = start + index * width;
    const second = first + width;
    const third = second + width;
    const fourth = third + width;
    for (let at = 0; at < width; at++)
      sum[at] = sum[at]! + data[first + at]! + data[second + at]! + data[third + at]! + data[fourth + at]!;
  }
  for (; index < count; index++) {
    const from = start + index * width;
    for (let at = 0; at < width; at++) sum[at]! += data[from + at]!;
  }
}

/** A zero vector stays: the caller refuses it. */
function divideByNorm(vector: Float64Array): void {
  let squares = 0;
  for (const component of vector) squares += component * component;
  if (squares === 0) return;
  const norm = Math.sqrt(squares);
  for (let at = 0; at < vector.length; at++) vector[at]! /= norm;
}
