/**
 * Parts of a list in order, each of at most `maxCount` items and `maxBytes` bytes. An item over that is a part of its own.
 * @param bytesOf bytes of the item at this place
 */
export function divide<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
  { maxBytes, maxCount }: { readonly maxBytes: number; readonly maxCount: number },
): Item[][] {
  const parts: Item[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    const own = bytesOf(item);
    if (bytes + own > maxBytes || parts.at(-1)!.length >= maxCount) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(item);
    bytes += own;
  }
  return parts;
}
