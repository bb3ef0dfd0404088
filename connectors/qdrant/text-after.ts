import type { DocumentWrite } from '../../src/contracts/sink.js';
import { contentHash } from '../../src/elements/hash.js';
import type { TextRef } from './ledger.js';

/**
 * What is kept of a document once a write took effect; what the store has already is not brought again.
 * @param since the epoch since which texts are kept, undefined where they are not
 */
export function textAfter(
  write: DocumentWrite,
  writeId: string,
  old: TextRef | undefined,
  since: number | undefined,
): TextRef | undefined {
  switch (write.kind) {
    case 'fail':
      return old;
    case 'delete':
      return forgotten(old);
    case 'touch':
    case 'store': {
      if (since === undefined || write.given === undefined)
        return write.kind === 'touch' ? old : forgotten(old);
      const hash = contentHash(write.given);
      return old?.since === since && old.hash === hash ? old : { since, write: writeId, hash };
    }
    default:
      return write satisfies never;
  }
}

/** There may be something to remove. */
function forgotten(old: TextRef | undefined): TextRef | undefined {
  return old?.write === undefined ? old : { since: old.since, write: undefined, hash: undefined };
}
