/**
 * A loaded model that runs batches. It is asked for up to `concurrency` batches at a time, in any order, and closed once,
 * when no batch is under way. An embedding model is the same with vectors for results (`EmbeddingModel`).
 */
export interface ModelHandler<Item, Result> {
  /**
   * Stands for weights and settings together: another id where the results may be others. It is part of the chain's
   * digest, so a store that was filled with another model is told apart.
   */
  readonly modelId: string;
  /** Batches that can be under way at once, from 1. */
  readonly concurrency: number;
  readonly batching: HandlerBatching<Item>;
  /**
   * @param signal aborts when the run gives up: a call under way may be cut off
   * @throws MillraceError when no item of the batch was done. What follows is decided by its code: an outage
   * (`remote_unavailable`) is waited out, what may lie with one item (`inference_failed`) splits the batch until that item
   * is alone. Anything else that is thrown counts as `inference_failed`.
   */
  run(items: readonly Item[], signal: AbortSignal): Promise<Inferences<Result>>;
  close(): Promise<void>;
}

export interface Inferences<Result> {
  /** The model that made this very batch: a handler may change its model between two. */
  readonly modelId: string;
  /** One an item, in their order; an Error fails that item alone. */
  readonly results: readonly (Result | Error)[];
}

export interface HandlerBatching<Item> {
  /** Items of a batch at most, from 1. */
  readonly items: number;
  /** Cost of a batch at most, in the unit of `costOf` (tokens, characters). An item over it runs alone. */
  readonly cost: number;
  costOf(item: Item): number;
  /** A batch is padded to its costliest item: those of similar cost go together. */
  readonly padded: boolean;
}
