/** Whether a code point is in a list of ranges `first-last` in hex, separated by blanks. */
export function codePointSet(list: string): (codePoint: number) => boolean {
  const ranges = list
    .trim()
    .split(/\s+/)
    .map((range) => range.split('-').map((bound) => Number.parseInt(bound, 16)));
  const firsts = Int32Array.from(ranges, ([first]) => first!);
  const lasts = Int32Array.from(ranges, (range) => range.at(-1)!);
  return (codePoint) => {
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (firsts[middle]! <= codePoint) low = middle + 1;
      else high = middle;
    }
    return low > 0 && codePoint <= lasts[low - 1]!;
  };
}
