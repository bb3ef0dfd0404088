/**
 * A bounded table from words to numbers that is asked with a range of a text, so that a look-up makes no string and no
 * key keeps a whole document alive. When it is full it forgets everything: the common words are back at once.
 */
export class WordTable {
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #maxWords: number;
  readonly #hashes: Int32Array;
  readonly #offsets: Int32Array;
  readonly #values: Int32Array;
  readonly #units: Uint16Array;
  #count = 0;

  /** @param maxWords a power of two */
  constructor(maxWords: number) {
    this.#slots = new Int32Array(maxWords * 2).fill(-1);
    this.#mask = maxWords * 2 - 1;
    this.#maxWords = maxWords;
    this.#hashes = new Int32Array(maxWords);
    this.#offsets = new Int32Array(maxWords + 1);
    this.#values = new Int32Array(maxWords);
    this.#units = new Uint16Array(maxWords * 16);
  }

  /** The value of `text.slice(start, end)`, or -1. `hash` is any function of these units, the same at every call. */
  get(text: string, start: number, end: number, hash: number): number {
    const length = end - start;
    for (let slot = spread(hash) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const word = this.#slots[slot]!;
      if (word === -1) return -1;
      if (this.#hashes[word] !== hash) continue;
      const offset = this.#offsets[word]!;
      if (this.#offsets[word + 1]! - offset !== length) continue;
      let at = 0;
      while (at < length && this.#units[offset + at] === text.charCodeAt(start + at)) at++;
      if (at === length) return this.#values[word]!;
    }
  }

  /** Whether a word of this length has no place any more: `clear` first, then. */
  full(length: number): boolean {
    return this.#count === this.#maxWords || this.#offsets[this.#count]! + length > this.#units.length;
  }

  /** Adds a word that is not in the table, which is not full. */
  add(text: string, start: number, end: number, hash: number, value: number): void {
    const offset = this.#offsets[this.#count]!;
    let slot = spread(hash) & this.#mask;
    while (this.#slots[slot] !== -1) slot = (slot + 1) & this.#mask;
    const word = this.#count++;
    this.#slots[slot] = word;
    this.#hashes[word] = hash;
    this.#values[word] = value;
    for (let at = start; at < end; at++) this.#units[offset + at - start] = text.charCodeAt(at);
    this.#offsets[word + 1] = offset + end - start;
  }

  clear(): void {
    this.#slots.fill(-1);
    this.#count = 0;
  }
}

/** Mixes the high bits of a multiplicative hash into the low ones that choose the slot. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}
