import { type Matrix, matrix, row } from './matrix.js';

/**
 * Texts as tokens: those of text i lie in `tokens` from `starts[i]` to `starts[i + 1]`, and each has the same part
 * `shares[i]` in the text's vector: one over their number for a mean.
 */
export interface TokenTexts {
  readonly starts: Uint32Array;
  readonly tokens: Uint32Array;
  readonly shares: Float64Array;
}

export function tokenTexts(sequences: readonly (readonly number[])[]): TokenTexts {
  const starts = new Uint32Array(sequences.length + 1);
  sequences.forEach((ids, i) => (starts[i + 1] = starts[i]! + ids.length));
  const shares = Float64Array.from(sequences, (ids) => 1 / ids.length);
  return { starts, tokens: Uint32Array.from(sequences.flat()), shares };
}

/** One row per text: its share of the sum of its tokens' vectors. A text without tokens has a row of zeros. */
export function sumsOfTokens(texts: TokenTexts, vectors: Matrix): Matrix {
  const out = matrix(texts.starts.length - 1, vectors.columns);
  eachToken(texts, (i, token, share) => addScaled(row(out, i), row(vectors, token), share));
  return out;
}

/** The transpose of `sumsOfTokens`: each text's row is given back to its tokens, a share to each. */
export function sharesOfTexts(texts: TokenTexts, rows: Matrix, vocabulary: number): Matrix {
  const out = matrix(vocabulary, rows.columns);
  eachToken(texts, (i, token, share) => addScaled(row(out, token), row(rows, i), share));
  return out;
}

function eachToken(texts: TokenTexts, visit: (text: number, token: number, share: number) => void): void {
  for (let i = 0; i + 1 < texts.starts.length; i++) {
    const end = texts.starts[i + 1]!;
    const share = texts.shares[i]!;
    for (let t = texts.starts[i]!; t < end; t++) visit(i, texts.tokens[t]!, share);
  }
}

function addScaled(to: Float32Array, from: Float32Array, factor: number): void {
  for (let c = 0; c < to.length; c++) to[c]! += from[c]! * factor;
}
