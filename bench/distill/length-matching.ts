import { dot, type Matrix, row } from './matrix.js';
import { sumsOfTokens, type TokenTexts } from './token-texts.js';

/** A text's share is not raised by more than this, so that a text with a vector near zero does not rule the fit. */
const LEAST_RATIO = 0.05;

/** The vectors times the one number that brings texts as near to their targets as a number can. */
export function scaledToFit(texts: TokenTexts, targets: Matrix, vectors: Matrix): Matrix {
  const sums = sumsOfTokens(texts, vectors);
  const scale = dot(sums.data, targets.data) / dot(sums.data, sums.data);
  return { ...vectors, data: vectors.data.map((x) => x * scale) };
}

/**
 * The texts with shares that make each vector as long as its target, up to one factor for all. Only the direction of a
 * vector is used later, so the next fit should correct directions and leave lengths alone.
 */
export function withMatchedLengths(texts: TokenTexts, targets: Matrix, vectors: Matrix): TokenTexts {
  const sums = sumsOfTokens(texts, vectors);
  const factors = texts.shares.map(
    (_, i) => 1 / Math.max(length(row(sums, i)) / length(row(targets, i)), LEAST_RATIO),
  );
  const mean = factors.reduce((sum, x) => sum + x, 0) / factors.length;
  return { ...texts, shares: texts.shares.map((share, i) => (share * factors[i]!) / mean) };
}

function length(of: Float32Array): number {
  return Math.sqrt(dot(of, of));
}
