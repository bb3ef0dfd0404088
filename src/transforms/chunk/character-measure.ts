import type { MeasureText } from '../../contracts/token-measure.js';

/**
 * A measure for text whose tokenizer is not known: one token for every `perToken` UTF-16 code units, rounded up.
 * Four is close for English prose; for other scripts give fewer, down to 1.
 *
 * @throws {RangeError} when `perToken` is not a whole number of at least 1.
 */
export function characterMeasure(perToken = 4): MeasureText {
  if (!Number.isInteger(perToken) || perToken < 1) {
    throw new RangeError(`perToken must be a whole number of at least 1, not ${perToken}`);
  }
  const measure = {
    tokens: (start: number, end: number) => Math.ceil((end - start) / perToken),
    fit: (start: number, budget: number, limit: number) => Math.min(limit, start + budget * perToken),
  };
  return () => measure;
}
