/** What a token is to the text around it. */
export const tokenKind = {
  /** It goes on with the word of the token before it: a cut here may change ids on either side. */
  inside: 0,
  /** It begins a word: the ids on either side stay what they are when the text is cut just before it. */
  head: 1,
  /** It stands for a whole word that is longer than the model takes, and begins it. */
  overlong: 2,
} as const;

/** A text in tokens, special tokens excluded. The four arrays are equally long. */
export interface Encoding {
  readonly text: string;
  readonly ids: Int32Array;
  /** Offsets of each token in `text`, in UTF-16 code units; neither ever falls from one token to the next. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** A `tokenKind` each. */
  readonly kinds: Uint8Array;
}

/**
 * Turns text into the ids that a model was trained on. Text that spells a special token (`[SEP]`, `<s>`, an end-of-text
 * marker) is ordinary text here: it is never taken for the token itself. No text makes it throw.
 */
export interface Tokenizer {
  /** One more than the highest id. */
  readonly vocabularySize: number;
  /** The id that stands for what the vocabulary lacks; undefined where it lacks nothing. */
  readonly unknownId: number | undefined;
  encode(text: string): Encoding;
  /** Ids only, special tokens excluded. */
  ids(text: string): Int32Array;
}
