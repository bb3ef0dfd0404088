import type { SparseVector } from './point-filter.js';
import { Refusal } from './refusal.js';
import type { Body } from './schemas.js';

/** A vector as it is kept: of cosine at length 1, of the width of its name. */
export function storedVector(
  params: Body<'create'> | Body<'createUnnamed'>,
  name: string,
  vector: readonly number[] | { readonly indices: readonly number[]; readonly values: readonly number[] },
): Float32Array | SparseVector {
  if ('indices' in vector) {
    if (!('sparse_vectors' in params) || params.sparse_vectors?.[name] === undefined)
      throw unknownVector(name);
    return new Map(vector.indices.map((index, at) => [index, Math.fround(vector.values[at]!)]));
  }
  const named = params.vectors as
    { readonly [name: string]: { readonly size: number } | undefined } | undefined;
  const size = named?.[name]?.size;
  if (size === undefined) throw unknownVector(name);
  if (vector.length !== size)
    throw new Refusal(
      400,
      `Wrong input: Vector dimension error: expected dim: ${size}, got ${vector.length}`,
    );
  return normalized(Float32Array.from(vector));
}

function unknownVector(name: string): Refusal {
  return new Refusal(400, `Wrong input: Not existing vector name error: ${name}`);
}

export function written(vector: Float32Array | SparseVector) {
  if (vector instanceof Float32Array) return Array.from(vector);
  return { indices: [...vector.keys()], values: [...vector.values()] };
}

/** Sparse vectors without a common index are no match at all. */
export function similarity(
  a: Float32Array | SparseVector,
  b: Float32Array | SparseVector,
): number | undefined {
  if (a instanceof Float32Array) return dot(a, b as Float32Array);
  const common = [...a].filter(([index]) => (b as SparseVector).has(index));
  if (common.length === 0) return undefined;
  return common.reduce((sum, [index, value]) => sum + value * (b as SparseVector).get(index)!, 0);
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((component) => component / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}
