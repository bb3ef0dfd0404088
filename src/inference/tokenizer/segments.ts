/** Longest segment, in UTF-16 code units: what the library is given at once stays small, whatever the text. */
export const longestSegment = 400;

/**
 * Cuts a text where no tokenizer looks across: before a single blank between two words. Where there is none for long,
 * it is cut after other white space, else anywhere but inside a surrogate pair.
 * @param each called for each segment in order; together they are the text
 */
export function eachSegment(text: string, each: (start: number, end: number) => void): void {
  let start = 0;
  while (start < text.length) {
    const end = segmentEnd(text, start);
    each(start, end);
    start = end;
  }
}

function segmentEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + longestSegment);
  let lastSpace = 0;
  for (let at = start + 1; at < limit; at++) {
    const here = isSpace(text.charCodeAt(at));
    if (here) lastSpace = at;
    else continue;
    const between =
      !isSpace(text.charCodeAt(at - 1)) && at + 1 < text.length && !isSpace(text.charCodeAt(at + 1));
    if (between && text.charCodeAt(at) === 32) return at;
  }
  if (limit === text.length) return limit;
  if (lastSpace > start) return lastSpace + 1;
  const inPair =
    (text.charCodeAt(limit) & 0xfc00) === 0xdc00 && (text.charCodeAt(limit - 1) & 0xfc00) === 0xd800;
  return inPair ? limit - 1 : limit;
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13) || unit === 0xa0 || unit === 0x2028 || unit === 0x3000;
}
