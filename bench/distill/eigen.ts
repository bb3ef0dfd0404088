/**
 * Eigenvectors of a symmetric n x n matrix (row-major, destroyed), by cyclic Jacobi rotations: Golub and Van Loan,
 * Matrix Computations, section 8.5. Rows of the result are unit eigenvectors, largest eigenvalue first; the sign of each
 * makes its component of largest size positive, so that the result does not depend on rounding.
 */
export function eigenvectors(a: Float64Array, n: number): Float64Array {
  const v = identity(n);
  const tolerance = 1e-12 * Math.sqrt(offDiagonal(a, n, true));
  for (let sweep = 0; sweep < 30 && Math.sqrt(offDiagonal(a, n, false)) > tolerance; sweep++) {
    for (let p = 0; p < n - 1; p++) for (let q = p + 1; q < n; q++) rotate(a, v, n, p, q);
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => a[j * n + j]! - a[i * n + i]!);
  const sorted = new Float64Array(n * n);
  order.forEach((from, to) => sorted.set(oriented(v.subarray(from * n, from * n + n)), to * n));
  return sorted;
}

function identity(n: number): Float64Array {
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) out[i * n + i] = 1;
  return out;
}

/** Sum of squares of the matrix, its diagonal included or not. */
function offDiagonal(a: Float64Array, n: number, diagonal: boolean): number {
  let sum = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (diagonal || i !== j) sum += a[i * n + j]! ** 2;
  return sum;
}

/** Turns the plane of p and q so that a[p][q] becomes zero; eigenvectors gather in the rows of `v`. */
function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number): void {
  const apq = a[p * n + q]!;
  if (apq === 0) return;
  const theta = (a[q * n + q]! - a[p * n + p]!) / (2 * apq);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cos = 1 / Math.sqrt(t * t + 1);
  const sin = t * cos;
  turnRows(a, n, p, q, cos, sin);
  turnRows(v, n, p, q, cos, sin);
  for (let k = 0; k < n; k++) {
    const x = a[k * n + p]!;
    const y = a[k * n + q]!;
    a[k * n + p] = cos * x - sin * y;
    a[k * n + q] = sin * x + cos * y;
  }
}

function turnRows(m: Float64Array, n: number, p: number, q: number, cos: number, sin: number): void {
  for (let k = 0; k < n; k++) {
    const x = m[p * n + k]!;
    const y = m[q * n + k]!;
    m[p * n + k] = cos * x - sin * y;
    m[q * n + k] = sin * x + cos * y;
  }
}

function oriented(vector: Float64Array): Float64Array {
  let largest = 0;
  for (const x of vector) if (Math.abs(x) > Math.abs(largest)) largest = x;
  return largest < 0 ? vector.map((x) => -x) : vector;
}
