import { versionsAt, type Version } from '../../src/elements/version.js';
import type { EntryId } from './entry-id.js';

/** The versions of entries under one epoch. Neighbours were mostly added in the same millisecond. */
export class EntryVersions {
  readonly epoch: number;
  /** Milliseconds and dash of the entry before. */
  #milliseconds = '';
  #within: ((sequence: bigint | number) => Version) | undefined;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  at(id: EntryId): Version {
    const dash = id.indexOf('-') + 1;
    if (
      this.#within === undefined ||
      dash !== this.#milliseconds.length ||
      !id.startsWith(this.#milliseconds)
    ) {
      this.#milliseconds = id.slice(0, dash);
      this.#within = versionsAt(this.epoch, numberIn(id.slice(0, dash - 1)));
    }
    return this.#within(numberIn(id.slice(dash)));
  }
}

/** Numbers are faster, where they are exact. */
function numberIn(digits: string): bigint | number {
  return digits.length <= 15 ? Number(digits) : BigInt(digits);
}
