import type { ModelHandler } from '../../contracts/model-handler.js';
import type { LiveModel } from './live-model.js';

/** A model handler whose inside may be exchanged while it is used; every batch says which model made it. */
export function createLiveHandler<Item, Result>(
  live: LiveModel<ModelHandler<Item, Result>>,
): ModelHandler<Item, Result> {
  return {
    get modelId() {
      return live.current.modelId;
    },
    get concurrency() {
      return live.current.concurrency;
    },
    get batching() {
      return live.current.batching;
    },
    run: (items, signal) => live.use((model) => model.run(items, signal), signal),
    close: () => live.close(),
  };
}
