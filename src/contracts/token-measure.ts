/**
 * Measures one text in tokens of the model that will embed it, special tokens excluded. Offsets are UTF-16 code units.
 */
export interface TokenMeasure {
  /** An upper bound, exact where the tokenizer allows, of the tokens in `text.slice(start, end)`. */
  tokens(start: number, end: number): number;
  /**
   * An `end`, at most `limit`, such that `tokens(start, end) <= budget`: `limit` itself where that fits, else the furthest
   * at the edge of a token. It may fall inside a character, and is `start` when not even a part of the first word fits.
   */
  fit(start: number, budget: number, limit: number): number;
}

export type MeasureText = (text: string) => TokenMeasure;
