/** A slice of a text that a chunker chose, with its token ids when the chunker has them. */
export interface TokenPassage {
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
  /** Tokens of the embedded text, special tokens excluded. */
  readonly tokens: number;
  /** Headings over the start of the slice, outermost first; empty where there are none. */
  readonly headings: readonly string[];
  /** Token ids of the slice by the tokenizer of the model that will embed it. */
  readonly ids: Int32Array | undefined;
}
