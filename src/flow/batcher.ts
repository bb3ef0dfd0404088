import { MillraceError } from '../errors/millrace-error.js';
import { mayBeOneItem } from './error-policy.js';
import { takeSimilar, type Sized } from './take-similar.js';

export interface BatcherOptions<Item, Result> {
  /** One result an item, in their order; an Error fails that item alone. A throw concerns the whole batch. */
  run(items: readonly Item[]): Promise<readonly (Result | Error)[]>;
  /** Cost of one item in the unit of `maxCost` (tokens, bytes, rows). */
  cost(item: Item): number;
  /** A batch is padded to its costliest item: its cost is count times the greatest cost, and similar items are taken. */
  padded?: boolean;
  /** Budget of a batch. An item over it runs alone. */
  maxCost: number;
  /** Items of a batch at most. */
  maxItems: number;
  /** Batches under way at once. */
  concurrency: number;
}

interface Waiting<Item, Result> extends Sized {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Gathers the items of many callers into batches. It never waits for more while a batch could run: what comes in during
 * one turn of the event loop, or while all batches are under way, goes together.
 *
 * A batch that fails by an error that may lie with one item is split in halves until that item is alone.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #queue: Waiting<Item, Result>[] = [];
  #underWay = 0;
  #scheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  submit(item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => this.#enqueue(item, resolve, reject));
  }

  /** One result an item, in their order; rejects with the error of the first that fails. The items need not go together. */
  submitAll(items: readonly Item[]): Promise<Result[]> {
    return new Promise<Result[]>((resolve, reject) => {
      const results = new Array<Result>(items.length);
      let missing = items.length;
      if (missing === 0) resolve(results);
      items.forEach((item, at) =>
        this.#enqueue(
          item,
          (result) => {
            results[at] = result;
            missing -= 1;
            if (missing === 0) resolve(results);
          },
          reject,
        ),
      );
    });
  }

  #enqueue(item: Item, resolve: (result: Result) => void, reject: (error: unknown) => void): void {
    this.#queue.push({ item, size: this.#options.cost(item), resolve, reject });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= this.#options.concurrency || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#underWay < this.#options.concurrency && this.#queue.length > 0) this.#dispatch();
    });
  }

  #dispatch(): void {
    const batch = takeSimilar(this.#queue, this.#options);
    this.#underWay += 1;
    void this.#runOrSplit(batch).finally(() => {
      this.#underWay -= 1;
      this.#schedule();
    });
  }

  async #runOrSplit(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      this.#deliver(batch, await this.#options.run(batch.map(({ item }) => item)));
    } catch (error) {
      if (batch.length === 1 || !mayBeOneItem(MillraceError.from(error).code)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const middle = batch.length >> 1;
      await this.#runOrSplit(batch.slice(0, middle));
      await this.#runOrSplit(batch.slice(middle));
    }
  }

  #deliver(batch: readonly Waiting<Item, Result>[], results: readonly (Result | Error)[]): void {
    if (results.length !== batch.length)
      throw new MillraceError('internal', `A batch of ${batch.length} items gave ${results.length} results.`);
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index] as Result | Error;
      if (result instanceof Error) reject(result);
      else resolve(result);
    });
  }
}
