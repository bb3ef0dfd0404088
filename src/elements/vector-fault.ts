/** Why a vector cannot be stored or searched for by cosine, or undefined when it can. */
export function vectorFault(vector: Float32Array, width: number): string | undefined {
  if (vector.length !== width) return `it has ${vector.length} components, the store holds ${width}`;
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  // Squares of 32-bit floats cannot overflow 64 bits, so the sum is finite exactly when all components are.
  if (!Number.isFinite(squares)) return 'it has a component that is not a finite number';
  if (squares === 0) return 'all its components are zero';
  return undefined;
}
