import { median } from './median.js';
import { SizeTrial } from './size-trial.js';

export interface BatchBudgetOptions {
  /** Cost of the first batches. */
  readonly start: number;
  /** The budget stays within these. */
  readonly min: number;
  readonly max: number;
  /** Most time, in ms, that a batch should take at its worker. Default: none. */
  readonly latencyMs?: number | undefined;
}

export interface ServedBatch {
  /** The budget that it was filled to. */
  readonly limit: number;
  readonly cost: number;
  /** Time at its worker: waiting and retries left out. */
  readonly ms: number;
}

/** Full batches that the usual rate is the median of. */
const recentBatches = 11;
/** A batch filled to this share of its budget counts as full: what a smaller one takes is mostly fixed cost. */
const fullShare = 0.75;
/** A batch this many times slower than usual stood still, and tells nothing of sizes; so many in a row do. */
const stall = { factor: 20, inRow: 7 };
/** A batch at less than this share of the usual rate is bad news. */
const badNews = 2 / 3;
/** The most that a budget grows from what was served already. */
const growth = 1.25;
/** Full batches until a little more than what last ran out of memory is risked again. */
const memoryBatches = 128;

/**
 * How much a batch should hold, found from the time that batches take.
 *
 * - With a latency target L it is the most that keeps to it: a batch of cost c that took t allows c L / t. Where
 *   t = a + b c with a, b >= 0, that never oversteps the ideal (L - a) / b from below, comes nearer with each batch, and
 *   lands on it at once where a = 0. The median over recent batches counts; a last one that was much slower counts alone:
 *   bad news is believed at once, and forgotten with the next good batch.
 * - Without one it is what gives the highest throughput: see `SizeTrial`.
 */
export class BatchBudget {
  readonly #options: BatchBudgetOptions;
  readonly #trial: SizeTrial;
  /** Cost a ms of recent full batches, newest last. */
  readonly #rates: number[] = [];
  #lastRate = Infinity;
  #stalls = 0;
  /** The largest that was served. */
  #served: number;
  /** What memory has room for, as far as is known. */
  #memory = Infinity;
  #sinceMemory = 0;

  constructor(options: BatchBudgetOptions) {
    this.#options = options;
    this.#trial = new SizeTrial(options.start);
    this.#served = options.start / growth;
  }

  /** The budget of the next batch. */
  next(): number {
    const { min, max, latencyMs } = this.#options;
    const most = Math.max(min, Math.min(max, this.#memory));
    if (latencyMs === undefined) return this.#trial.next(min, most);
    return Math.max(min, Math.min(most, Math.ceil(this.#served * growth), this.#allowedBy(latencyMs)));
  }

  served({ limit, cost, ms }: ServedBatch): void {
    const rate = cost / Math.max(ms, 0.001);
    const full = cost >= limit * fullShare;
    if (!full) this.#trial.served(limit, undefined);
    if (!full && ms <= (this.#options.latencyMs ?? Infinity)) return;
    if (rate * stall.factor >= median(this.#rates)) this.#stalls = 0;
    else if (++this.#stalls < stall.inRow) return;
    else this.#rates.length = 0;
    this.#rates.push(rate);
    if (this.#rates.length > recentBatches) this.#rates.shift();
    this.#lastRate = rate;
    if (!full) return;
    this.#served = Math.max(this.#served, limit);
    this.#trial.served(limit, rate);
    if (++this.#sinceMemory % memoryBatches === 0) this.#memory = Math.ceil(this.#memory * growth);
  }

  /** Goes to half of a cost that did not fit into memory, once for all batches that show it. */
  outOfMemory(cost: number): void {
    this.#memory = Math.min(this.#memory, Math.floor(cost / 2));
    this.#sinceMemory = 0;
  }

  #allowedBy(latencyMs: number): number {
    if (this.#rates.length === 0) return Infinity;
    const usual = median(this.#rates);
    const rate = this.#lastRate < usual * badNews ? this.#lastRate : usual;
    return Math.floor(latencyMs * rate);
  }
}
