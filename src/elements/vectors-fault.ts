import { vectorFault } from './vector-fault.js';

/** Why vectors cannot be those of `chunks` chunks in spaces of these names and widths; undefined when they can. */
export function vectorsFault(
  chunks: number,
  given: readonly { readonly space: string; readonly vectors: readonly (Float32Array | undefined)[] }[],
  spaces: readonly { readonly name: string; readonly width: number }[],
): string | undefined {
  if (given.length === 0) return 'it is in no space';
  if (new Set(given.map(({ space }) => space)).size !== given.length) return 'a space occurs twice';
  for (const { space, vectors } of given) {
    const width = spaces.find(({ name }) => name === space)?.width;
    if (width === undefined) return `the store has no space ${JSON.stringify(space)}`;
    if (vectors.length !== chunks)
      return `its ${chunks} chunks have ${vectors.length} vectors in space ${JSON.stringify(space)}`;
    for (const [at, vector] of vectors.entries()) {
      const fault = vector === undefined ? undefined : vectorFault(vector, width);
      if (fault !== undefined) return `the vector of chunk ${at} is unfit: ${fault}`;
    }
  }
  return undefined;
}
