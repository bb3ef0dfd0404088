import type { BatchLimit, BatchQueue, Sized } from './batch-queue.js';
import { Fifo } from './fifo.js';

/** Batches of what came one after the other; a batch costs the sum of its sizes. */
export class QueueInTurn<Item extends Sized> implements BatchQueue<Item> {
  readonly #items = new Fifo<Item>();
  #size = 0;

  get length(): number {
    return this.#items.length;
  }

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#size += item.size;
  }

  take(limit: BatchLimit): Item[] {
    const batch: Item[] = [];
    let cost = 0;
    for (let next = this.#items.first; next !== undefined; next = this.#items.first) {
      cost += next.size;
      if (batch.length > 0 && (cost > limit.cost || batch.length >= limit.items)) break;
      batch.push(next);
      this.#items.shift();
    }
    this.#size -= this.costOf(batch);
    return batch;
  }

  costOf(batch: readonly Item[]): number {
    return batch.reduce((sum, { size }) => sum + size, 0);
  }
}
