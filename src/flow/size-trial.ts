import { median } from './median.js';

/** From one size to the next. */
const step = 1.25;
/** Full batches of each of the two sizes of a trial: at least, and at most while noise leaves it open. */
const samples = { least: 7, most: 31 };
/** How much faster another size must be to be taken. */
const gain = 0.03;
/** Batches between two trials: at first, and at most. It doubles while trials change nothing. */
const rest = { first: 16, most: 256 };

interface Trial {
  readonly size: number;
  readonly rates: { readonly present: number[]; readonly tried: number[] };
}

/**
 * Looks for the batch size of the highest throughput in small steps. A larger or smaller size is tried by turns with the
 * present one, so that what else changes meanwhile (other texts, a busy machine) meets both; medians decide, and only by
 * more than twice their standard error. The last winning direction is tried first; when neither direction wins, the next
 * trial waits, twice as long each time.
 */
export class SizeTrial {
  #present: number;
  #trial: Trial | undefined;
  #turn = false;
  #direction: 'up' | 'down' = 'up';
  #lost = 0;
  #resting = 0;
  #pause = rest.first;

  constructor(start: number) {
    this.#present = start;
  }

  /** The size of the next batch, at most `most`. */
  next(least: number, most: number): number {
    if (this.#trial === undefined && this.#resting <= 0) this.#begin(least, most);
    const size = this.#trial?.size ?? this.#present;
    this.#turn = !this.#turn;
    return Math.min(most, this.#turn ? size : this.#present);
  }

  /** @param rate cost a ms of a full batch that `next` gave this size */
  served(size: number, rate: number): void {
    if (this.#trial === undefined) {
      this.#resting -= 1;
      return;
    }
    const { rates, size: tried } = this.#trial;
    if (size === tried) rates.tried.push(rate);
    else if (size === this.#present) rates.present.push(rate);
    const count = Math.min(rates.tried.length, rates.present.length);
    if (count < samples.least) return;
    const faster = median(rates.tried) / median(rates.present) - 1;
    const doubt = 2 * Math.hypot(errorOf(rates.tried), errorOf(rates.present));
    const open = Math.abs(faster) < Math.max(gain, doubt);
    if (open && doubt > gain && count < samples.most) return;
    this.#trial = undefined;
    if (open || faster < 0) return this.#turnRound();
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
    else this.#trial = { size, rates: { present: [], tried: [] } };
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

/** Relative standard error of the median: 1.25 times that of the mean, the spread taken from the median deviation. */
function errorOf(rates: readonly number[]): number {
  const middle = median(rates);
  const spread = 1.4826 * median(rates.map((rate) => Math.abs(rate - middle)));
  return (1.25 * spread) / middle / Math.sqrt(rates.length);
}
