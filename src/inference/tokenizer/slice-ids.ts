import { tokenRange } from './token-range.js';
import type { Encoding, Tokenizer } from './tokenizer.js';

/**
 * The ids of `encoding.text.slice(start, end)`, as `tokenizer.ids` of that slice would give them, at the cost of the words
 * that are cut at its edges: a view of the encoding's where none is.
 */
export function sliceIds(tokenizer: Tokenizer, encoding: Encoding, start: number, end: number): Int32Array {
  const { text, ids } = encoding;
  const { first, past, leftEnd, rightStart } = tokenRange(encoding, start, end);
  const middle = ids.subarray(first, past);
  if (leftEnd === start && rightStart === end) return middle;
  const left = tokenizer.ids(text.slice(start, leftEnd));
  const right = tokenizer.ids(text.slice(rightStart, end));
  const all = new Int32Array(left.length + middle.length + right.length);
  all.set(left);
  all.set(middle, left.length);
  all.set(right, left.length + middle.length);
  return all;
}
