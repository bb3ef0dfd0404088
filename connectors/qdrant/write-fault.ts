import type { DocumentWrite } from '../../src/contracts/sink.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import { vectorsFault } from '../../src/elements/vectors-fault.js';
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
  return vectorsFault(write.chunks.length, write.spaces, spaces);
}
