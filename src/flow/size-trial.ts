import { median } from './median.js';

/** From one size to the next. */
const step = 1.25;
/** Pairs of batches after which a trial is looked at: each look more would be one more chance for chance to win. */
const looks = [17, 33];
/** How much faster another size must be to be taken. */
const gain = 0.03;
/** Standard errors by which it must be faster. */
const sureness = 3;
/** Batches between two trials: at first, and at most. It doubles while trials change nothing. */
const rest = { first: 16, most: 256 };

interface Trial {
  readonly size: number;
  /** Rate of the size that is tried over that of the present one: of two batches that followed one another. */
  readonly ratios: number[];
  /** What waits for its other half. */
  half: { readonly size: number; readonly rate: number } | undefined;
}

/**
 * Looks for the batch size of the highest throughput in small steps. A larger or smaller size is tried by turns with the
 * present one, and each batch is compared with its neighbour alone: texts get shorter while a backlog drains, and of some
 * lengths only one of the two sizes is ever full. The median of the pairs decides, and only by more than three times its
 * standard error; of two that cannot be told apart, the one nearer to the start is taken: else a size would wander for ever
 * where each step costs too little to be seen. The last winning direction is tried first; when neither direction wins, the
 * next trial waits, twice as long each time.
 */
export class SizeTrial {
  readonly #start: number;
  #present: number;
  #trial: Trial | undefined;
  #turn = false;
  #direction: 'up' | 'down' = 'up';
  #lost = 0;
  #resting = 0;
  #pause = rest.first;

  /** @param start the best that is known beforehand */
  constructor(start: number) {
    this.#start = start;
    this.#present = start;
  }

  /** The size of the next batch, at most `most`. */
  next(least: number, most: number): number {
    if (this.#trial === undefined && this.#resting <= 0) this.#begin(least, most);
    const size = this.#trial?.size ?? this.#present;
    this.#turn = !this.#turn;
    return Math.min(most, this.#turn ? size : this.#present);
  }

  /** @param rate cost a ms of a batch that `next` gave this size; undefined where it was not full, and tells nothing */
  served(size: number, rate: number | undefined): void {
    if (this.#trial === undefined) {
      if (rate !== undefined) this.#resting -= 1;
      return;
    }
    const { ratios, half, size: tried } = this.#trial;
    const counts = rate !== undefined && (size === tried || size === this.#present);
    if (!counts || half === undefined || half.size === size) {
      this.#trial.half = counts ? { size, rate } : undefined;
      return;
    }
    this.#trial.half = undefined;
    ratios.push(size === tried ? rate / half.rate : half.rate / rate);
    if (!looks.includes(ratios.length)) return;
    const faster = median(ratios) - 1;
    const clear = Math.abs(faster) >= Math.max(gain, sureness * errorOf(ratios));
    if (!clear && ratios.length < looks.at(-1)!) return;
    this.#trial = undefined;
    if (clear ? faster < 0 : this.#distance(tried) >= this.#distance(this.#present)) return this.#turnRound();
    this.#present = tried;
    this.#lost = 0;
    this.#pause = rest.first;
  }

  #begin(least: number, most: number): void {
    const size =
      this.#direction === 'up'
        ? Math.min(most, Math.max(this.#present + 1, Math.round(this.#present * step)))
        : Math.max(least, Math.min(this.#present - 1, Math.round(this.#present / step)));
    // While there is room for less than the present size there is nothing to compare.
    if (most < this.#present || size === this.#present) this.#turnRound();
    else this.#trial = { size, ratios: [], half: undefined };
  }

  /** From the start, in steps. */
  #distance(size: number): number {
    return Math.abs(Math.log(size / this.#start));
  }

  #turnRound(): void {
    this.#direction = this.#direction === 'up' ? 'down' : 'up';
    this.#lost += 1;
    if (this.#lost < 2) return;
    this.#lost = 0;
    this.#resting = this.#pause;
    this.#pause = Math.min(rest.most, this.#pause * 2);
  }
}

/** Standard error of the median: 1.25 times that of the mean, the spread taken from the median deviation. */
function errorOf(ratios: readonly number[]): number {
  const middle = median(ratios);
  const spread = 1.4826 * median(ratios.map((ratio) => Math.abs(ratio - middle)));
  return (1.25 * spread) / Math.sqrt(ratios.length);
}
