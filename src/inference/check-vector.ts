import { MillraceError } from '../errors/millrace-error.js';

/**
 * Why a vector may not be written: another width than the space's, a component that is no finite number, or length 0.
 * A component of 0 is as good as any other.
 * @returns MillraceError `embedding_invalid`, or undefined when the vector is sound
 */
export function checkVector(vector: Float32Array | undefined, width: number): MillraceError | undefined {
  if (vector === undefined) return invalid('The model gave no vector for this text.');
  if (vector.length !== width)
    return invalid(`The model gave a vector of ${vector.length} components where its space has ${width}.`);
  let squares = 0;
  for (let at = 0; at < width; at++) squares += vector[at]! * vector[at]!;
  if (!Number.isFinite(squares))
    return invalid('The model gave a vector with a component that is not a finite number.');
  if (squares === 0)
    return invalid('The model gave a vector of length 0, which has no direction to compare.');
  return undefined;
}

function invalid(message: string): MillraceError {
  return new MillraceError('embedding_invalid', message);
}
