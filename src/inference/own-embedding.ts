import type { EmbeddingModel } from '../contracts/embedding-model.js';

/** An embedding model of one's own, as a TypeScript configuration names it. */
export interface OwnEmbedding {
  /** Opens the model: once for each run, and once for each retriever. */
  load(signal?: AbortSignal): Promise<EmbeddingModel>;
}
