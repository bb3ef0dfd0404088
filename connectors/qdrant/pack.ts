/**
 * Cuts a list into requests, in order, each within bounds on items and bytes. An item over the bytes comes alone: whether
 * to send it is for the caller to decide.
 */
export function pack<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  most: { items: number; bytes: number },
): T[][] {
  const requests: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const own = bytesOf(item);
    const open = requests.at(-1);
    if (open !== undefined && open.length < most.items && bytes + own <= most.bytes) {
      open.push(item);
      bytes += own;
    } else {
      requests.push([item]);
      bytes = own;
    }
  }
  return requests;
}
