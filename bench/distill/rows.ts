import { dot, type Matrix, row } from './matrix.js';

/** The three below change the matrix that they are given and return it. */

/** Takes the mean of all rows from each. */
export function centred(of: Matrix): Matrix {
  const mean = new Float64Array(of.columns);
  for (let r = 0; r < of.rows; r++) row(of, r).forEach((x, c) => (mean[c]! += x / of.rows));
  for (let r = 0; r < of.rows; r++) row(of, r).forEach((x, c, values) => (values[c] = x - mean[c]!));
  return of;
}

/** Scales each row to length 1. */
export function unit(of: Matrix): Matrix {
  for (let r = 0; r < of.rows; r++) {
    const norm = Math.sqrt(dot(row(of, r), row(of, r)));
    row(of, r).forEach((x, c, values) => (values[c] = x / norm));
  }
  return of;
}

/** Scales row r by `weights[r]`. */
export function weighted(of: Matrix, weights: Float32Array): Matrix {
  for (let r = 0; r < of.rows; r++) row(of, r).forEach((x, c, values) => (values[c] = x * weights[r]!));
  return of;
}
