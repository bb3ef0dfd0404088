/**
 * Measures one text in tokens of the model that will embed it, special tokens excluded. Offsets are UTF-16 code units.
 */
export interface TokenMeasure {
  /** An upper bound, exact where the tokenizer allows, of the tokens in `text.slice(start, end)`. */
  tokens(start: number, end: number): number;
  /** The furthest `end`, at most `limit`, such that `tokens(start, end) <= budget`. It may fall inside a character. */
  fit(start: number, budget: number, limit: number): number;
}

export type MeasureText = (text: string) => TokenMeasure;
