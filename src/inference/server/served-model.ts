import type { EmbedText, TextRole } from '../../contracts/embedding-model.js';

/** A model as the server sees it: requests of all clients share its batches. */
export interface ServedModel {
  /** `identityDigest` of the model. */
  readonly modelId: string;
  /** Components of a vector. */
  readonly width: number;
  /** Most tokens of one text, by role: what the model reads less its special tokens and the prompt of that role. */
  readonly maxTokens: Readonly<Record<TextRole, number>>;
  /**
   * Of each text its ids, special tokens excluded; an Error concerns that text alone.
   * @param signal what still waits when it aborts is not tokenised
   */
  tokenize(texts: readonly string[], signal: AbortSignal): Promise<readonly (Int32Array | Error)[]>;
  /**
   * One sound vector a text, in their order; an Error concerns that text alone.
   * @param signal what still waits when it aborts is not computed
   */
  embed(
    texts: readonly EmbedText[],
    role: TextRole,
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | Error)[]>;
}
