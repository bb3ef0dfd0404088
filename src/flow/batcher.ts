import type { Clock } from '../contracts/context.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { BatchBudget } from './batch-budget.js';
import type { BatchQueue, Sized } from './batch-queue.js';
import { mayBeOneItem } from './error-policy.js';
import { QueueBySize } from './queue-by-size.js';
import { QueueInTurn } from './queue-in-turn.js';
import { underEither } from './under-either.js';

export interface BatcherOptions<Item, Result> {
  /**
   * One result an item, in their order; an Error fails that item alone. A throw concerns the whole batch.
   * @param served tells a `BatchBudget` how long the batch took at its worker, in ms: waiting and retries left out
   */
  run(items: readonly Item[], served: (ms: number) => void): Promise<readonly (Result | Error)[]>;
  /** Cost of one item in the unit of `maxCost` (tokens, bytes, rows). */
  cost(item: Item): number;
  /** A batch is padded to its costliest item: its cost is count times the greatest cost, and similar items are taken. */
  padded?: boolean;
  /** Share of an item's place that may be padding, unless the batch would be a small one. Default 1: any. */
  mostPadding?: number | undefined;
  /** Budget of a batch: fixed, or found at run time. An item over it runs alone. */
  maxCost: number | BatchBudget;
  /** Items of a batch at most. */
  maxItems: number;
  /** Batches under way at once. */
  concurrency: number;
  /**
   * What waits is shared out among batches that may start now, none made smaller than this: then no worker is idle while
   * another has all of it. Default: one batch takes what it can hold.
   */
  shareFrom?: number;
  /** While a batch is under way, one that is not full may wait this long for more. Default: it never waits. */
  wait?: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal };
}

/** Reason for which a batch waits no longer. */
const gone = 'gone';

/** Whoever waits for the results of some items. */
interface Caller<Result> {
  /** What still waits when it aborts goes into no batch. */
  readonly signal?: AbortSignal | undefined;
  /** @param at place of the item among those of this caller */
  resolve(result: Result, at: number): void;
  reject(error: unknown, at: number): void;
}

interface Waiting<Item, Result> extends Sized {
  readonly item: Item;
  readonly at: number;
  readonly caller: Caller<Result>;
}

/**
 * Gathers the items of many callers into batches. Unless told to, it never waits for more while a batch could run: what
 * comes in during one turn of the event loop, or while all batches are under way, goes together.
 *
 * A batch that fails by an error that may lie with one item is split in halves until that item is alone; so is one that
 * did not fit into memory.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #queue: BatchQueue<Waiting<Item, Result>>;
  #underWay = 0;
  #scheduled = false;
  /** When the batch that waits for more goes in any case, and what ends its timer; undefined while none waits. */
  #waits: { readonly until: number; readonly over: AbortController } | undefined;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
    this.#queue = options.padded === true ? new QueueBySize(options.mostPadding) : new QueueInTurn();
  }

  /** Nothing waits, and nothing is under way. */
  get idle(): boolean {
    return this.#underWay === 0 && this.#queue.length === 0;
  }

  /** @param signal as of `submitAll` */
  submit(item: Item, signal?: AbortSignal): Promise<Result> {
    return new Promise<Result>((resolve, reject) => this.#enqueue(item, 0, { resolve, reject, signal }));
  }

  /**
   * One result an item, in their order; rejects with the error of the first that fails. The items need not go together.
   * @param signal what still waits when it aborts goes into no batch: it is rejected with the signal's reason
   */
  submitAll(items: readonly Item[], signal?: AbortSignal): Promise<Result[]> {
    return new Promise((resolveAll, reject) => {
      this.#enqueueAll(items, { resolve: gather(items.length, resolveAll), reject, signal });
    });
  }

  /** As `submitAll`, but an item that fails leaves its error in its place. */
  submitEach(items: readonly Item[], signal?: AbortSignal): Promise<(Result | Error)[]> {
    return new Promise((resolveAll) => {
      const resolve = gather<Result | Error>(items.length, resolveAll);
      const reject = (error: unknown, at: number) => resolve(MillraceError.from(error), at);
      this.#enqueueAll(items, { resolve, reject, signal });
    });
  }

  #enqueueAll(items: readonly Item[], caller: Caller<Result>): void {
    for (let at = 0; at < items.length; at += 1) this.#enqueue(items[at]!, at, caller);
  }

  #enqueue(item: Item, at: number, caller: Caller<Result>): void {
    this.#queue.add({ item, size: this.#options.cost(item), at, caller });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= this.#options.concurrency || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#underWay < this.#options.concurrency && this.#queue.length > 0) {
        const budget = this.#budget();
        if (this.#waitsFor(budget)) break;
        this.#dispatch(budget);
      }
    });
  }

  #budget(): number {
    const { maxCost } = this.#options;
    return typeof maxCost === 'number' ? maxCost : maxCost.next();
  }

  /** Whether the next batch had better wait for more. */
  #waitsFor(budget: number): boolean {
    const { wait, maxItems } = this.#options;
    const full = this.#queue.size >= budget || this.#queue.length >= maxItems;
    if (wait === undefined || wait.ms <= 0 || this.#underWay === 0 || full) return false;
    if (this.#waits === undefined) {
      const over = new AbortController();
      this.#waits = { until: wait.clock.now() + wait.ms, over };
      underEither(wait.signal, over.signal, (signal) => wait.clock.sleep(wait.ms, signal)).then(
        () => this.#schedule(),
        // What waits is told by the run itself.
        () => this.#schedule(),
      );
      return true;
    }
    return wait.clock.now() < this.#waits.until && !wait.signal.aborted;
  }

  #dispatch(budget: number): void {
    this.#waits?.over.abort(gone);
    this.#waits = undefined;
    const { maxItems: items, concurrency, shareFrom = Infinity } = this.#options;
    // Towards the end of a backlog too, when half are under way: else the last batch runs while others are done.
    const shares = Math.max(concurrency - this.#underWay, Math.ceil(concurrency / 2));
    const share = Math.max(shareFrom, Math.ceil(this.#queue.size / shares));
    const taken = this.#queue.take({ cost: Math.min(budget, share), items });
    const batch = taken.filter(({ at, caller: { signal, reject } }) => {
      if (signal?.aborted === true) reject(signal.reason, at);
      return signal?.aborted !== true;
    });
    if (batch.length === 0) return;
    this.#underWay += 1;
    void this.#runOrSplit(batch, budget).finally(() => {
      this.#underWay -= 1;
      this.#schedule();
    });
  }

  async #runOrSplit(batch: readonly Waiting<Item, Result>[], limit: number): Promise<void> {
    const { run, maxCost } = this.#options;
    const cost = this.#queue.costOf(batch);
    try {
      const results = await run(
        batch.map(({ item }) => item),
        (ms) => {
          if (typeof maxCost !== 'number') maxCost.served({ limit, cost, ms });
        },
      );
      this.#deliver(batch, results);
    } catch (error) {
      const { code } = MillraceError.from(error);
      if (code === 'out_of_memory' && typeof maxCost !== 'number') maxCost.outOfMemory(cost);
      if (batch.length === 1 || !mayBeOneItem(code)) {
        for (const { caller, at } of batch) caller.reject(error, at);
        return;
      }
      const middle = batch.length >> 1;
      await this.#runOrSplit(batch.slice(0, middle), limit);
      await this.#runOrSplit(batch.slice(middle), limit);
    }
  }

  #deliver(batch: readonly Waiting<Item, Result>[], results: readonly (Result | Error)[]): void {
    if (results.length !== batch.length)
      throw new MillraceError('internal', `A batch of ${batch.length} items gave ${results.length} results.`);
    batch.forEach(({ caller, at }, index) => {
      const result = results[index] as Result | Error;
      if (result instanceof Error) caller.reject(result, at);
      else caller.resolve(result, at);
    });
  }
}

/** Calls `done` once all of so many results are there. */
function gather<Result>(
  count: number,
  done: (results: Result[]) => void,
): (result: Result, at: number) => void {
  const results = new Array<Result>(count);
  let missing = count;
  if (missing === 0) done(results);
  return (result, at) => {
    results[at] = result;
    missing -= 1;
    if (missing === 0) done(results);
  };
}
