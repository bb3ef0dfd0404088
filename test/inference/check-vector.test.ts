import { expect, it } from 'vitest';
import { checkVector } from '../../src/inference/check-vector.js';

it('accepts a vector whose first or last component is 0', () => {
  expect(checkVector(Float32Array.of(0, 1, 2), 3)).toBeUndefined();
  expect(checkVector(Float32Array.of(1, 2, 0), 3)).toBeUndefined();
  expect(checkVector(Float32Array.of(3e38, 3e38, 3e38), 3)).toBeUndefined();
  expect(checkVector(Float32Array.of(0, 1e-40, 0), 3)).toBeUndefined();
});

it.each([
  ['of another width', Float32Array.of(1, 2)],
  ['with a component that is no number', Float32Array.of(1, NaN, 0)],
  ['with an infinite component', Float32Array.of(1, -Infinity, 0)],
  ['of length 0', Float32Array.of(0, -0, 0)],
  ['that is missing', undefined],
])('refuses a vector %s', (_, vector) => {
  expect(checkVector(vector, 3)).toMatchObject({ name: 'MillraceError', code: 'embedding_invalid' });
});
