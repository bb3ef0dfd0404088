/** Lists of token ids on their way between threads: one after another, and how many each has. */
export interface PackedIds {
  readonly ids: Int32Array<ArrayBuffer>;
  readonly counts: Int32Array<ArrayBuffer>;
}

export function packIds(lists: readonly Int32Array[]): PackedIds {
  const counts = new Int32Array(lists.length);
  let used = 0;
  for (const [at, list] of lists.entries()) used += counts[at] = list.length;
  const ids = new Int32Array(used);
  used = 0;
  for (const list of lists) {
    ids.set(list, used);
    used += list.length;
  }
  return { ids, counts };
}

/** Gives the lists back one after another, as views. */
export function idsReader({ ids, counts }: PackedIds): () => Int32Array {
  let list = 0;
  let used = 0;
  return () => {
    const from = used;
    used += counts[list++]!;
    return ids.subarray(from, used);
  };
}

/** All lists, as views. */
export function unpackIds(packed: PackedIds): Int32Array[] {
  const next = idsReader(packed);
  return Array.from(packed.counts, () => next());
}
