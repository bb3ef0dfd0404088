import type { MeasureText } from '../../../../src/contracts/token-measure.js';

const word = /[A-Za-z0-9]+|\S/gu;

/**
 * Like a real tokenizer: tokens with offsets, none for white space, words in pieces of three characters, one to three
 * tokens that share their offsets for a character beyond ASCII. A token counts wherever a slice touches it.
 */
export const wordPieceMeasure: MeasureText = (text) => {
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (start: number, end: number) => {
    starts.push(start);
    ends.push(end);
  };
  for (const match of text.matchAll(word)) {
    const [found] = match;
    const code = found.codePointAt(0)!;
    if (code < 0x80) {
      for (let at = 0; at < found.length; at += 3) {
        add(match.index + at, match.index + Math.min(at + 3, found.length));
      }
    } else {
      for (let copies = 1 + (code % 3); copies > 0; copies -= 1) add(match.index, match.index + found.length);
    }
  }
  return {
    tokens: (start, end) => Math.max(0, firstAtLeast(starts, end) - firstAtLeast(ends, start + 1)),
    fit(start, budget, limit) {
      const next = firstAtLeast(ends, start + 1) + budget;
      return next < starts.length ? Math.min(limit, Math.max(start, starts[next]!)) : limit;
    },
  };
};

/** Index of the first of the sorted `values` that is at least `bound`. */
function firstAtLeast(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
