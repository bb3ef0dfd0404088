import { createAddRows } from './row-sum.js';
import type { TokenVectors } from './token-vectors.js';

export interface AverageOptions {
  /** Divide each vector by its length. */
  readonly normalize: boolean;
  /** Token that stands for what the vocabulary lacks: left out, as model2vec does. */
  readonly unknownId: number | undefined;
}

/** Writes the vector of the tokens `ids[from] ... ids[to - 1]` to `out` at `at`. */
export type AverageTokens = (
  ids: Int32Array,
  from: number,
  to: number,
  out: Float32Array,
  at: number,
) => void;

/**
 * The mean of the vectors of a text's tokens, each times its weight, as model2vec computes it (`StaticModel.encode`); in
 * the order of the tokens, so that it is the same bit for bit whatever else is in the batch.
 *
 * A text of nothing but unknown tokens (a lone emoji) has no such mean. It gets the vector of the unknown token or, where
 * that is zero, a fixed one of alternating signs that is nearly at right angles to all others: the text is kept, finds
 * and is found by its like, and comes last for other queries. Length 0 would make it a failed document.
 */
export function createAverageTokens(
  vectors: TokenVectors,
  { normalize, unknownId = -1 }: AverageOptions,
): AverageTokens {
  const { width, tokens } = vectors;
  const addRows = createAddRows(vectors);
  const weights = vectors.weights && new Float32Array(vectors.weights);
  const mapping = vectors.mapping && new Int32Array(vectors.mapping);
  const sum = new Float32Array(width);
  let offsets = new Int32Array(512);
  let factors = new Float32Array(512);
  const fallback = fallbackVector();

  /** Adds the tokens other than `skipped` to `sum`. @returns how many */
  function add(ids: Int32Array, from: number, to: number, skipped: number): number {
    if (to - from > offsets.length) {
      offsets = new Int32Array(to - from);
      factors = new Float32Array(to - from);
    }
    let count = 0;
    for (let index = from; index < to; index++) {
      const id = ids[index]!;
      if (id === skipped) continue;
      offsets[count] = (mapping === undefined ? id : mapping[id]!) * width;
      factors[count] = weights === undefined ? 1 : weights[id]!;
      count++;
    }
    addRows(sum, offsets, factors, count);
    return count;
  }

  /** Moves `sum`, divided, to `out`. @returns false when it is zero */
  function take(count: number, scaled: boolean, out: Float32Array, at: number): boolean {
    let squares = 0;
    for (let component = 0; component < width; component++) squares += sum[component]! * sum[component]!;
    if (squares === 0) return false;
    const factor = scaled ? 1 / Math.sqrt(squares) : 1 / count;
    for (let component = 0; component < width; component++) out[at + component] = sum[component]! * factor;
    return true;
  }

  function fallbackVector(): Float32Array {
    const vector = new Float32Array(width);
    if (unknownId >= 0 && unknownId < tokens) {
      sum.fill(0);
      const count = add(Int32Array.of(unknownId), 0, 1, -1);
      if (take(count, normalize, vector, 0)) return vector;
    }
    return vector.map((_, component) => (component % 2 === 0 ? 1 : -1) / Math.sqrt(width));
  }

  return (ids, from, to, out, at) => {
    sum.fill(0);
    const count = add(ids, from, to, unknownId);
    if (!take(count, normalize, out, at)) out.set(fallback, at);
  };
}
