import type { BatchLimit, BatchQueue, Sized } from './batch-queue.js';
import { Fifo } from './fifo.js';

interface Waiting<Item> {
  readonly item: Item;
  /** Batches taken before it came, in units of `batchesOfAnAge`. */
  readonly age: number;
}

interface SameSize<Item> {
  readonly size: number;
  readonly waiting: Fifo<Waiting<Item>>;
}

/** What comes while so many batches are taken counts as equally old, and so is sorted as one. */
export const batchesOfAnAge = 8;
/** A batch of less than this part of its limit takes what there is, however much is padding. */
const littleOf = 8;

/**
 * Batches of similar sizes, for work that is padded to the largest of its batch: a batch costs its count times that. Each
 * batch is taken around the oldest item, so that nothing waits for ever; the age of an item is counted in batches, and of
 * equally old ones the largest leads, so that a backlog drains from the largest down, nearly without padding.
 *
 * A batch costs a look at each size that occurs, however many items wait.
 */
export class QueueBySize<Item extends Sized> implements BatchQueue<Item> {
  /** Sizes that occur, ascending. */
  #sizes: SameSize<Item>[] = [];
  #taken = 0;
  #length = 0;
  #size = 0;
  readonly #mostPadding: number;

  /** @param mostPadding share of an item's place that may be padding, unless the batch would be a small one; 0 to 1 */
  constructor(mostPadding = 1) {
    this.#mostPadding = mostPadding;
  }

  get length(): number {
    return this.#length;
  }

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const at = this.#placeOf(item.size);
    if (this.#sizes[at]?.size !== item.size)
      this.#sizes.splice(at, 0, { size: item.size, waiting: new Fifo() });
    this.#sizes[at]!.waiting.push({ item, age: Math.floor(this.#taken / batchesOfAnAge) });
    this.#length += 1;
    this.#size += item.size;
  }

  take(limit: BatchLimit): Item[] {
    if (this.#length === 0) return [];
    const batch: Item[] = [];
    const at = this.#oldest();
    const { size } = this.#sizes[at]!;
    let [low, high] = [at, at];
    const room = (largest: number) =>
      Math.min(limit.items, Math.max(1, Math.floor(limit.cost / largest))) - batch.length;
    this.#move(at, room(size), batch);
    for (;;) {
      const [shorter, longer] = [this.#sizes[low - 1], this.#sizes[high + 1]];
      const [smallest, largest] = [this.#sizes[low]!.size, this.#sizes[high]!.size];
      const wanted = (small: number, large: number) =>
        room(large) > 0 &&
        (batch.length * largest * littleOf < limit.cost || large - small <= large * this.#mostPadding);
      const mayLonger = longer !== undefined && wanted(smallest, longer.size);
      const mayShorter = shorter !== undefined && wanted(shorter.size, largest);
      const longerIsNearer = mayLonger && (!mayShorter || longer.size - size <= size - shorter.size);
      if (longerIsNearer) this.#move(++high, room(longer.size), batch);
      else if (mayShorter) this.#move(--low, room(largest), batch);
      else break;
    }
    this.#sizes = this.#sizes.filter(
      ({ waiting }, index) => index < low || index > high || waiting.length > 0,
    );
    this.#taken += 1;
    return batch;
  }

  costOf(batch: readonly Item[]): number {
    return batch.length * batch.reduce((most, { size }) => Math.max(most, size), 0);
  }

  #move(at: number, count: number, batch: Item[]): void {
    const { size, waiting } = this.#sizes[at]!;
    const moved = Math.min(count, waiting.length);
    for (let left = moved; left > 0; left -= 1) batch.push(waiting.shift()!.item);
    this.#length -= moved;
    this.#size -= moved * size;
  }

  /** Where the oldest item is; of several, the largest. */
  #oldest(): number {
    let best = this.#sizes.length - 1;
    for (let at = best - 1; at >= 0; at -= 1)
      if (this.#sizes[at]!.waiting.first!.age < this.#sizes[best]!.waiting.first!.age) best = at;
    return best;
  }

  /** Where this size is, or belongs. */
  #placeOf(size: number): number {
    let [low, high] = [0, this.#sizes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sizes[middle]!.size < size) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
