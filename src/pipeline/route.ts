import type { EmbedText } from '../contracts/embedding-model.js';
import type { Chunker } from '../transforms/chunk/pooled-chunker.js';
import type { Embedding } from '../transforms/embed.js';
import type { InferChunks } from '../transforms/infer/infer-chunks.js';

/** The way of a document from chunker to vectors: the same for all documents that go through the same models. */
export interface Route {
  /** Names of its models, for records and messages: `en`, `a+b`; `*` where there is only one. */
  readonly name: string;
  readonly chunker: Chunker;
  /** Steps between chunker and embedder. */
  readonly inferChunks: readonly InferChunks[];
  /** One a model, at least one: each fills a space of its own. */
  readonly lanes: readonly EmbedLane[];
  /**
   * Runs the work on a document of so many UTF-16 code units once there is room in its lanes: passages that wait cost more
   * than text.
   * @param documents how many they are, 1 unless told
   */
  run<T>(units: number, work: () => Promise<T>, documents?: number): Promise<T>;
}

/** The one queue before an embedding model. */
export interface EmbedLane {
  readonly space: string;
  /** Components of a vector. */
  readonly width: number;
  /** `identityDigest` of its model. */
  readonly model: string;
  /** The chunker's token ids are those of its model. */
  readonly takesIds: boolean;
  embed(texts: readonly EmbedText[]): Promise<readonly Embedding[]>;
}
