import type { DocumentWrite, StoreWrite } from '../../src/contracts/sink.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import { vectorFault } from '../../src/elements/vector-fault.js';
import { isWellFormed } from './chunk-points.js';

const maxIdBytes = 2000;

/** Why the server would refuse a write, or why it must not be sent; undefined when it is sound. */
export function writeFault(write: DocumentWrite, spaces: readonly SpaceLayout[]): string | undefined {
  if (Buffer.byteLength(write.documentId) > maxIdBytes) return `its id is longer than ${maxIdBytes} bytes`;
  if (!write.documentId.isWellFormed()) return 'its id holds half of a surrogate pair';
  if (write.kind !== 'store') return undefined;
  const ids = new Set<string>();
  for (const { id, ordinal, text, metadata } of write.chunks) {
    if (ids.has(id)) return `chunk ${id} occurs twice`;
    ids.add(id);
    if (!isWellFormed(text, metadata)) return `chunk ${ordinal} holds half of a surrogate pair`;
  }
  return spacesFault(write, spaces);
}

function spacesFault(
  { chunks, spaces: given }: StoreWrite,
  spaces: readonly SpaceLayout[],
): string | undefined {
  if (given.length === 0) return 'it is in no space';
  if (new Set(given.map(({ space }) => space)).size !== given.length) return 'a space occurs twice';
  for (const { space, vectors } of given) {
    const width = spaces.find(({ name }) => name === space)?.width;
    if (width === undefined) return `the store has no space ${JSON.stringify(space)}`;
    if (vectors.length !== chunks.length)
      return `its ${chunks.length} chunks have ${vectors.length} vectors in space ${JSON.stringify(space)}`;
    for (const [at, vector] of vectors.entries()) {
      const fault = vector === undefined ? undefined : vectorFault(vector, width);
      if (fault !== undefined) return `the vector of chunk ${at} is unfit: ${fault}`;
    }
  }
  return undefined;
}
