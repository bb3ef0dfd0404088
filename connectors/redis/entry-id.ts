/** An id of a stream entry, `milliseconds-sequence`, as Redis writes it. */
export type EntryId = string;

/** Before every entry. */
export const zeroId: EntryId = '0-0';

/** Milliseconds and sequence number, 64 bits each. */
export function partsOf(id: EntryId): readonly [bigint, bigint] {
  const [milliseconds, sequence = '0'] = id.split('-');
  return [BigInt(milliseconds!), BigInt(sequence)];
}

/** Below 0, 0 or above 0, as `a` comes before, with or after `b`. */
export function compareIds(a: EntryId, b: EntryId): number {
  const [am, as] = partsOf(a);
  const [bm, bs] = partsOf(b);
  if (am !== bm) return am < bm ? -1 : 1;
  return as === bs ? 0 : as < bs ? -1 : 1;
}

/** The greatest id below this one; `0-0` has none and is its own. */
export function idBefore(id: EntryId): EntryId {
  const [milliseconds, sequence] = partsOf(id);
  if (sequence > 0n) return `${milliseconds}-${sequence - 1n}`;
  return milliseconds > 0n ? `${milliseconds - 1n}-${(1n << 64n) - 1n}` : zeroId;
}
