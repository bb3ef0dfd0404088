import { eigenvectors } from './eigen.js';
import { type Matrix, matrix, row } from './matrix.js';

/** A centre and an orthonormal basis: `basis` holds `kept` unit rows of the vectors' width, the widest spread first. */
export interface PrincipalAxes {
  readonly mean: Float64Array;
  readonly basis: Float64Array;
  readonly kept: number;
}

/** Principal component analysis of the rows of `of`. */
export function principalAxes(of: Matrix, kept: number): PrincipalAxes {
  const n = of.columns;
  const mean = new Float64Array(n);
  for (let r = 0; r < of.rows; r++) row(of, r).forEach((x, c) => (mean[c]! += x / of.rows));
  const covariance = new Float64Array(n * n);
  const centred = new Float64Array(n);
  for (let r = 0; r < of.rows; r++) {
    row(of, r).forEach((x, c) => (centred[c] = x - mean[c]!));
    for (let i = 0; i < n; i++) {
      const x = centred[i]!;
      for (let j = i; j < n; j++) covariance[i * n + j]! += x * centred[j]!;
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) covariance[i * n + j] = covariance[j * n + i]!;
  return { mean, basis: eigenvectors(covariance, n).slice(0, kept * n), kept };
}

/** The rows of `of`, centred, in the coordinates of the axes. */
export function project(of: Matrix, axes: PrincipalAxes): Matrix {
  const out = matrix(of.rows, axes.kept);
  const n = of.columns;
  for (let r = 0; r < of.rows; r++) {
    const x = row(of, r);
    const y = row(out, r);
    for (let k = 0; k < axes.kept; k++) {
      let sum = 0;
      for (let c = 0; c < n; c++) sum += axes.basis[k * n + c]! * (x[c]! - axes.mean[c]!);
      y[k] = sum;
    }
  }
  return out;
}
