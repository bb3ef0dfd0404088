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
const stall = { factor: 20, inRow: 5 };

/**
 * How much a batch should hold, found from the time that batches take. Two rules:
 *
 * - Throughput: larger and smaller sizes are tried by turns with the present one, and taken when they are faster.
 * - Latency: with a target L, a batch of cost c that took t allows c L / t. Where t = a + b c with a, b >= 0, that never
 *   oversteps the ideal (L - a) / b from below, comes nearer with each batch, and lands on it at once where a = 0. The
 *   median over recent batches counts, and the last one alone when it allows less: bad news is believed at once, and
 *   forgotten with the next good batch.
 */
export class BatchBudget {
  readonly #options: BatchBudgetOptions;
  readonly #trial: SizeTrial;
  /** Cost a ms of recent full batches, newest last. */
  readonly #rates: number[] = [];
  #lastRate = Infinity;
  #stalls = 0;

  constructor(options: BatchBudgetOptions) {
    this.#options = options;
    this.#trial = new SizeTrial(options.start);
  }

  /** The budget of the next batch. */
  next(): number {
    const { min } = this.#options;
    return Math.max(min, this.#trial.next(min, Math.max(min, this.#cap())));
  }

  served({ limit, cost, ms }: ServedBatch): void {
    const rate = cost / Math.max(ms, 0.001);
    const full = cost >= limit * fullShare;
    if (!full && ms <= (this.#options.latencyMs ?? Infinity)) return;
    if (rate * stall.factor >= usual(this.#rates)) this.#stalls = 0;
    else if (++this.#stalls < stall.inRow) return;
    else this.#rates.length = 0;
    this.#rates.push(rate);
    if (this.#rates.length > recentBatches) this.#rates.shift();
    this.#lastRate = rate;
    if (full) this.#trial.served(limit, rate);
  }

  /** Halves the budget: a batch of this cost did not fit into memory. */
  outOfMemory(cost: number): void {
    this.#trial.tooLarge(cost, this.#options.min);
  }

  #cap(): number {
    const { max, latencyMs } = this.#options;
    if (latencyMs === undefined || this.#rates.length === 0) return max;
    return Math.min(max, Math.floor(latencyMs * Math.min(usual(this.#rates), this.#lastRate)));
  }
}

/** The median; of none, 0. */
function usual(rates: readonly number[]): number {
  if (rates.length === 0) return 0;
  return [...rates].sort((a, b) => a - b)[rates.length >> 1]!;
}
