import { untilAborted } from '../../errors/until-aborted.js';
import type { ModelLease } from '../manager.js';

/** A model that can be exchanged between two batches: every batch runs on one model from its beginning to its end. */
export interface LiveModel<Model> {
  /** The model that the next batch runs on. */
  readonly current: Model;
  /**
   * Runs one batch. It waits while a model that has no room beside the old one is loaded in its place.
   * @throws what `batch` throws; the signal's reason while it waits; what made both models fail to load
   */
  use<Result>(batch: (model: Model) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** From now on batches run on this model; the old one is closed when its last batch ends. */
  switchTo(next: ModelLease<Model>): Promise<void>;
  /**
   * For want of room: lets the batches under way end, closes the model, and goes on with what `load` gives; new batches
   * wait meanwhile. When `load` rejects, all uses reject so, until a later exchange succeeds.
   */
  replace(load: () => Promise<ModelLease<Model>>): Promise<void>;
  /** Waits for the batches under way; the model stays with its manager. */
  close(): Promise<void>;
}

interface Holder<Model> {
  readonly lease: ModelLease<Model>;
  uses: number;
  readonly onIdle: (() => void)[];
}

export function createLiveModel<Model>(first: ModelLease<Model>): LiveModel<Model> {
  let holder: Holder<Model> = { lease: first, uses: 0, onIdle: [] };
  /** Settles when an exchange is over. */
  let exchange: Promise<void> | undefined;

  const idle = (of: Holder<Model>) =>
    of.uses === 0 ? Promise.resolve() : new Promise<void>((resolve) => of.onIdle.push(resolve));

  return {
    get current() {
      return holder.lease.model;
    },
    async use(batch, signal) {
      while (exchange !== undefined) await (signal === undefined ? exchange : untilAborted(exchange, signal));
      const mine = holder;
      mine.uses += 1;
      try {
        return await batch(mine.lease.model);
      } finally {
        mine.uses -= 1;
        if (mine.uses === 0) for (const tell of mine.onIdle.splice(0)) tell();
      }
    },
    async switchTo(next) {
      const old = holder;
      holder = { lease: next, uses: 0, onIdle: [] };
      exchange = undefined;
      await idle(old);
      await old.lease.retire();
    },
    async replace(load) {
      const work = (async () => {
        await idle(holder);
        await holder.lease.retire();
        holder = { lease: await load(), uses: 0, onIdle: [] };
      })();
      exchange = work;
      // Without a batch that waits, nobody else hears of it.
      work.catch(() => undefined);
      await work;
      if (exchange === work) exchange = undefined;
    },
    async close() {
      await exchange?.catch(() => undefined);
      await idle(holder);
      holder.lease.release();
    },
  };
}
