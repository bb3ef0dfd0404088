import type { EmbedText, TextRole } from '../../contracts/embedding-model.js';

/** A model as the server sees it: requests of all clients share its batches. */
export interface ServedModel {
  /** `identityDigest` of the model. */
  readonly modelId: string;
  /** Components of a vector. */
  readonly width: number;
  /** Most tokens of one text, by role: what the model reads less its special tokens and the prompt of that role. */
  readonly maxTokens: Readonly<Record<TextRole, number>>;
  /** Ids of each text, special tokens excluded. */
  tokenize(texts: readonly string[]): Promise<readonly Int32Array[]>;
  /**
   * One sound vector a text, in their order.
   * @param signal what still waits when it aborts is not computed
   * @throws MillraceError for the first text that fails; the signal's reason
   */
  embed(texts: readonly EmbedText[], role: TextRole, signal: AbortSignal): Promise<readonly Float32Array[]>;
}
