import type { TokenMeasure } from '../../contracts/token-measure.js';
import { firstStartingAt, tokenRange } from './token-range.js';
import { tokenKind, type Encoding, type Tokenizer } from './tokenizer.js';

/**
 * Measures slices of an encoded text. The count is that of the slice's own tokens, words cut at its edges included, with
 * one exception: a word that the model takes as one unknown token because it is too long is charged by its length (see
 * `overlongCharge`), so that a megabyte of hex digits is not one small chunk. Look-ups take logarithmic time.
 */
export function measureTokens(tokenizer: Tokenizer, encoding: Encoding): TokenMeasure {
  const { text, starts, ends, kinds } = encoding;
  // Where every token costs one, as nearly everywhere, what the tokens before one cost is its index.
  const before = kinds.includes(tokenKind.overlong) ? costsBefore(encoding) : undefined;
  const costBefore = (token: number) => (before === undefined ? token : before[token]!);

  /** Cost of a part of one word. */
  function partCost(start: number, end: number): number {
    const units = end - start;
    if (units === 0) return 0;
    if (units > longestSplit) return overlongCharge(units);
    const exact = tokenizer.ids(text.slice(start, end)).length;
    return units > plainUnits ? Math.max(exact, overlongCharge(units)) : exact;
  }

  function tokens(start: number, end: number): number {
    const { first, past, leftEnd, rightStart } = tokenRange(encoding, start, end);
    return partCost(start, leftEnd) + costBefore(past) - costBefore(first) + partCost(rightStart, end);
  }

  /** The furthest end, found from above, in a word from `from` on that is too dear as a whole. */
  function fitInside(start: number, from: number, budget: number, limit: number): number {
    let units = Math.min(limit - from, plainUnits + budget * unitsPerToken);
    while (units > 0) {
      const cost = tokens(start, from + units);
      if (cost <= budget) break;
      units = Math.min(units - 1, Math.floor((units * budget) / cost));
    }
    return from + units;
  }

  function fit(start: number, budget: number, limit: number): number {
    if (start >= limit) return start;
    const { first, leftEnd, past: whole, rightStart } = tokenRange(encoding, start, limit);
    const left = partCost(start, leftEnd);
    const inner = left + costBefore(whole) - costBefore(first);
    if (inner <= budget && inner + partCost(rightStart, limit) <= budget) return limit;
    if (left > budget) return fitInside(start, start, budget, leftEnd);
    const most = costBefore(first) + budget - left;
    let past = Math.min(whole, before === undefined ? most : lastAtMost(before, most));
    // Tokens that share a character or a segment stay together.
    while (past > first && kinds[past] === tokenKind.inside && ends[past - 1]! > starts[past]!) past--;
    if (past > first || left > 0) return Math.min(limit, starts[past] ?? limit);
    return fitInside(start, Math.max(start, starts[first]!), budget, Math.min(limit, wordEnd(first)));
  }

  function wordEnd(token: number): number {
    let next = token + 1;
    while (next < kinds.length && kinds[next] === tokenKind.inside) next++;
    return ends[next - 1]!;
  }

  return { tokens, fit };
}

/** Units of an over-long word that are charged one token each: a slice of so few may be split, into as many tokens. */
const plainUnits = 100;
/** Units to a token in the rest of it: as in other text. */
const unitsPerToken = 4;
/** From here on the charge is above the most that any part of a word can be split into. */
const longestSplit = 1000;

function overlongCharge(units: number): number {
  return Math.min(units, plainUnits) + Math.ceil(Math.max(0, units - plainUnits) / unitsPerToken);
}

/** What the tokens before each one cost together, and at the end all of them. */
function costsBefore({ starts, ends, kinds }: Encoding): Int32Array {
  const before = new Int32Array(kinds.length + 1);
  for (let token = 0; token < kinds.length; token++) {
    const overlong = kinds[token] === tokenKind.overlong;
    before[token + 1] = before[token]! + (overlong ? overlongCharge(ends[token]! - starts[token]!) : 1);
  }
  return before;
}

/** The last index whose value is at most `most`; values never fall. */
function lastAtMost(values: Int32Array, most: number): number {
  return firstStartingAt(values, most + 1) - 1;
}
