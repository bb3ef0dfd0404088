/** A dense row-major matrix of 32-bit floats: value (r, c) lies at `data[r * columns + c]`. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float32Array;
}

export function matrix(rows: number, columns: number): Matrix {
  return { rows, columns, data: new Float32Array(rows * columns) };
}

/** Row `r` as a view: writing to it changes the matrix. */
export function row(of: Matrix, r: number): Float32Array {
  return of.data.subarray(r * of.columns, (r + 1) * of.columns);
}

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** The cosine of two vectors; 0 when either is all zero. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const norms = Math.sqrt(dot(a, a) * dot(b, b));
  return norms === 0 ? 0 : dot(a, b) / norms;
}
