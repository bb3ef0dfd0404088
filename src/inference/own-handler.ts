import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import { isStrayPromise } from './stray-promise.js';

/** A model of one's own, as a TypeScript configuration names it: an id and a function over a batch. */
export interface OwnHandler {
  /** Raise it when the results may be others: it is in the labels and in the chain's digest. */
  readonly modelId: string;
  /**
   * One result or Error an item, in their order. A throw concerns the whole batch, which is then split until the item at
   * fault is alone; an outage (MillraceError `remote_unavailable`) is waited out.
   */
  run(items: readonly Json[], signal: AbortSignal): Promise<readonly (Json | Error)[]>;
  /** Items of a batch at most. Default 32. */
  readonly batchSize?: number;
  /** Batches under way at once. Default 1. */
  readonly concurrency?: number;
  close?(): Promise<void>;
}

export function createOwnHandler(own: OwnHandler): ModelHandler<Json, Json> {
  const { modelId, batchSize = 32, concurrency = 1 } = own;
  return {
    modelId,
    concurrency,
    batching: { items: batchSize, cost: batchSize, costOf: () => 1, padded: false },
    run: async (items, signal) => ({ modelId, results: settledOnly(await own.run(items, signal)) }),
    close: async () => own.close?.(),
  };
}

/** A list of promises is what a `map` with an async function gives. */
function settledOnly(results: readonly (Json | Error)[]): readonly (Json | Error)[] {
  // What is no list at all is refused by who asked.
  if (!Array.isArray(results)) return results;
  return results.map((result) =>
    isStrayPromise(result)
      ? new Error(
          'It gave a promise for this item: `run` awaits them all, as by Promise.all, before it returns.',
        )
      : result,
  );
}
