import type { SourceState } from '../../src/contracts/source.js';
import type { Json } from '../../src/elements/metadata.js';
import { compareIds, zeroId, type EntryId } from './entry-id.js';

/** What the store remembers of a stream, for all processes that read it. */
export interface StreamMemory {
  /** Rises when the stream begins anew, with lower ids than it had. */
  readonly epoch: number;
  /** The greatest id seen. */
  readonly last: EntryId;
  /** Everything up to here was confirmed: where the group goes on should it be lost. */
  readonly resume: EntryId;
  /** Entries by which Redis's count of what the group has read is short of the truth: those lost so far. */
  readonly drift: number;
}

/** Changes the memory by `change` until no other process came between. `change` gives undefined to leave it as it is. */
export async function remember(
  state: SourceState,
  change: (known: StreamMemory | undefined) => StreamMemory | undefined,
): Promise<{ readonly memory: StreamMemory; readonly changed: boolean }> {
  for (;;) {
    const held = (await state.read()) as (StreamMemory & Json) | undefined;
    const next = change(held);
    if (next === undefined) return { memory: held ?? fresh, changed: false };
    if (await state.replace(held, { ...next })) return { memory: next, changed: true };
  }
}

export const fresh: StreamMemory = { epoch: 0, last: zeroId, resume: zeroId, drift: 0 };

export function laterId(a: EntryId, b: EntryId): EntryId {
  return compareIds(a, b) >= 0 ? a : b;
}
