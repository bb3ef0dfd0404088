import { tokenKind, type Encoding } from './tokenizer.js';

/**
 * How a slice of a text lies in its tokens: words that are cut at its edges, and the tokens between them, which are the
 * same in the slice as in the text.
 */
export interface TokenRange {
  /** Tokens that the slice shares with the text: from `first`, before `past`. */
  readonly first: number;
  readonly past: number;
  /** End of the rest of a word at the slice's start; equal to the start when no word is cut there. */
  readonly leftEnd: number;
  /** Start of the beginning of a word at the slice's end; equal to the end when no word is cut there. */
  readonly rightStart: number;
}

/** @param start, end offsets in the text, start <= end */
export function tokenRange(encoding: Encoding, start: number, end: number): TokenRange {
  const { starts, ends, kinds } = encoding;
  let first = firstEndingAfter(ends, start);
  let past = firstStartingAt(starts, end);
  let leftEnd = start;
  let rightStart = end;
  if (first >= past) return { first, past: first, leftEnd, rightStart };
  if (starts[first]! < start || kinds[first] === tokenKind.inside) {
    do first++;
    while (first < kinds.length && kinds[first] === tokenKind.inside);
    leftEnd = Math.min(end, ends[first - 1]!);
    if (first >= past) return { first, past: first, leftEnd, rightStart };
  }
  // A word may be cut after any of its whole tokens: pieces are chosen from the left.
  if (ends[past - 1]! > end) {
    do past--;
    while (past > first && kinds[past] === tokenKind.inside);
    rightStart = starts[past]!;
  }
  return { first, past, leftEnd, rightStart };
}

/** Index of the first token that ends after an offset. */
export function firstEndingAfter(ends: Int32Array, offset: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Index of the first token that starts at an offset or after it. */
export function firstStartingAt(starts: Int32Array, offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! >= offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
