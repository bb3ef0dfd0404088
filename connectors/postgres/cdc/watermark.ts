import type { Lsn } from './lsn.js';

/** A part of the stream that was handed over. */
export interface Stretch {
  /** When its oldest transaction was committed, ms since 1970. */
  readonly committedAt: number;
  /** Everything up to here is in this stretch or an earlier one; undefined while no transaction has ended in it. */
  passed: Lsn | undefined;
  settled: boolean;
}

/** How far the stream is durable without a gap: deliveries settle in any order, and only ends of transactions count. */
export class Watermark {
  readonly #open: Stretch[] = [];
  #durable: Lsn;

  constructor(from: Lsn) {
    this.#durable = from;
  }

  get durable(): Lsn {
    return this.#durable;
  }

  /** Commit time of the oldest change that is not durable. */
  get oldest(): number | undefined {
    return this.#open[0]?.committedAt;
  }

  /** @param passed the last end of a transaction in it */
  add(committedAt: number, passed: Lsn | undefined): Stretch {
    const stretch = { committedAt, passed, settled: false };
    this.#open.push(stretch);
    return stretch;
  }

  settle(stretch: Stretch): void {
    stretch.settled = true;
    while (this.#open[0]?.settled === true) this.#advance(this.#open.shift()!.passed);
  }

  /** Everything up to here was handed over, and no transaction is in the middle: what is open speaks for it. */
  pass(lsn: Lsn): void {
    const last = this.#open.at(-1);
    if (last === undefined) this.#advance(lsn);
    else if (last.passed === undefined || last.passed < lsn) last.passed = lsn;
  }

  #advance(lsn: Lsn | undefined): void {
    if (lsn !== undefined && lsn > this.#durable) this.#durable = lsn;
  }
}
