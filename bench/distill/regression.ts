import { type Matrix, matrix, row } from './matrix.js';
import { sumsOfTokens, sharesOfTexts, type TokenTexts } from './token-texts.js';

/**
 * Token vectors E whose sums in texts come close to the texts' vectors Y while they stay near the prior P: the least of
 * |XE - Y|^2 + pull |E - P|^2, where X takes a text's share of its tokens. It is linear, and each column is solved by
 * itself, by conjugate gradients from P (Hestenes and Stiefel 1952). Tokens that no text holds keep their prior.
 */
export function fitTokenVectors(
  texts: TokenTexts,
  targets: Matrix,
  prior: Matrix,
  pull: number,
  steps: number,
): Matrix {
  const vectors: Matrix = { ...prior, data: prior.data.slice() };
  const residual = sharesOfTexts(texts, difference(targets, sumsOfTokens(texts, vectors)), prior.rows);
  const direction: Matrix = { ...residual, data: residual.data.slice() };
  let size = columnSums(residual, residual);
  for (let step = 0; step < steps; step++) {
    const image = sharesOfTexts(texts, sumsOfTokens(texts, direction), prior.rows);
    for (let i = 0; i < image.data.length; i++) image.data[i]! += pull * direction.data[i]!;
    const along = ratios(size, columnSums(direction, image));
    addColumns(vectors, direction, along, 1);
    addColumns(residual, image, along, -1);
    const next = columnSums(residual, residual);
    turn(direction, residual, ratios(next, size));
    size = next;
  }
  return vectors;
}

function difference(a: Matrix, b: Matrix): Matrix {
  const out = matrix(a.rows, a.columns);
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i]! - b.data[i]!;
  return out;
}

function columnSums(a: Matrix, b: Matrix): Float64Array {
  const sums = new Float64Array(a.columns);
  for (let r = 0; r < a.rows; r++) {
    const x = row(a, r);
    const y = row(b, r);
    for (let c = 0; c < sums.length; c++) sums[c]! += x[c]! * y[c]!;
  }
  return sums;
}

function ratios(above: Float64Array, below: Float64Array): Float64Array {
  return above.map((x, c) => (below[c] === 0 ? 0 : x / below[c]!));
}

function addColumns(to: Matrix, from: Matrix, factors: Float64Array, sign: 1 | -1): void {
  for (let r = 0; r < to.rows; r++) {
    const x = row(to, r);
    const y = row(from, r);
    for (let c = 0; c < x.length; c++) x[c]! += sign * factors[c]! * y[c]!;
  }
}

/** The next direction: the residual plus the old direction, scaled by column. */
function turn(direction: Matrix, residual: Matrix, factors: Float64Array): void {
  for (let r = 0; r < direction.rows; r++) {
    const x = row(direction, r);
    const y = row(residual, r);
    for (let c = 0; c < x.length; c++) x[c] = y[c]! + factors[c]! * x[c]!;
  }
}
