import { type Matrix, row } from './matrix.js';

/** A matrix in 8 bits: value (r, c) is `values[r * columns + c] * scales[r]`. */
export interface Quantised {
  readonly rows: number;
  readonly columns: number;
  readonly values: Int8Array;
  readonly scales: Float32Array;
}

/** Symmetric rounding with one scale per row: its largest component becomes 127 or -127. */
export function quantise(of: Matrix): Quantised {
  const values = new Int8Array(of.data.length);
  const scales = new Float32Array(of.rows);
  for (let r = 0; r < of.rows; r++) {
    const x = row(of, r);
    let largest = 0;
    for (const value of x) largest = Math.max(largest, Math.abs(value));
    const scale = Math.fround(largest / 127);
    scales[r] = scale;
    if (scale > 0) for (let c = 0; c < x.length; c++) values[r * of.columns + c] = Math.round(x[c]! / scale);
  }
  return { rows: of.rows, columns: of.columns, values, scales };
}
