/** Cuts a list into runs of at most `size`, in order: every item is in exactly one. */
export function* chunked<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
