/** From one size to the next. */
const step = 1.25;
/** Full batches of each of the two sizes of a trial. */
const samples = 7;
/** How many times as fast another size must be to be taken. */
const gain = 1.03;
/** Batches between two trials: at first, and at most. It doubles while trials change nothing. */
const rest = { first: 16, most: 256 };

interface Trial {
  readonly size: number;
  readonly rates: { readonly present: number[]; readonly tried: number[] };
}

/**
 * Looks for the batch size of the highest throughput in small steps. A larger or smaller size is tried by turns with the
 * present one, so that what else changes meanwhile (other texts, a busy machine) meets both; medians decide. The last
 * winning direction is tried first; when neither direction wins, the next trial waits, twice as long each time.
 */
export class SizeTrial {
  #present: number;
  #trial: Trial | undefined;
  #turn = false;
  #direction: 'up' | 'down' = 'up';
  #lost = 0;
  #resting = 0;
  #pause = rest.first;
  /** A size that did not fit into memory; sizes near it are not tried again until this is forgotten. */
  #tooLarge = Infinity;

  constructor(start: number) {
    this.#present = start;
  }

  /** The size of the next batch, at most `cap`. */
  next(min: number, cap: number): number {
    if (this.#trial === undefined && this.#resting <= 0) this.#begin(min, cap);
    const size = this.#trial?.size ?? this.#present;
    this.#turn = !this.#turn;
    return Math.min(cap, this.#turn ? size : this.#present);
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
    if (rates.tried.length < samples || rates.present.length < samples) return;
    const faster = median(rates.tried) / median(rates.present);
    this.#trial = undefined;
    if (faster < gain) return this.#turnRound();
    this.#present = tried;
    this.#lost = 0;
    this.#pause = rest.first;
  }

  /** Goes to half of a size that did not fit into memory, once for all batches that show it. */
  tooLarge(size: number, min: number): void {
    this.#trial = undefined;
    this.#resting = this.#pause;
    this.#tooLarge = Math.min(this.#tooLarge, size);
    this.#present = Math.max(min, Math.min(this.#present, Math.floor(size / 2)));
  }

  #begin(min: number, cap: number): void {
    // A size that the cap has cut below is not the present one any more.
    const present = Math.min(this.#present, cap);
    const size =
      this.#direction === 'up'
        ? Math.min(cap, Math.max(present + 1, Math.round(present * step)))
        : Math.max(min, Math.min(present - 1, Math.round(present / step)));
    if (present < this.#present || size === present || size * step > this.#tooLarge) this.#turnRound();
    else this.#trial = { size, rates: { present: [], tried: [] } };
  }

  #turnRound(): void {
    this.#direction = this.#direction === 'up' ? 'down' : 'up';
    this.#lost += 1;
    if (this.#lost < 2) return;
    this.#lost = 0;
    this.#resting = this.#pause;
    if (this.#pause === rest.most) this.#tooLarge *= step;
    this.#pause = Math.min(rest.most, this.#pause * 2);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
