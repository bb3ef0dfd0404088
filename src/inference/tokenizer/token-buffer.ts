import type { Encoding } from './tokenizer.js';

/** Growing columns of tokens that one tokenizer fills again and again, so that no token is an object. */
export class TokenBuffer {
  length = 0;
  ids = new Int32Array(1024);
  starts = new Int32Array(1024);
  ends = new Int32Array(1024);
  kinds = new Uint8Array(1024);

  push(id: number, start: number, end: number, kind: number): void {
    const at = this.length++;
    if (at === this.ids.length) this.#grow();
    this.ids[at] = id;
    this.starts[at] = start;
    this.ends[at] = end;
    this.kinds[at] = kind;
  }

  takeIds(): Int32Array {
    const ids = this.ids.slice(0, this.length);
    this.#clear();
    return ids;
  }

  takeEncoding(text: string): Encoding {
    const { length } = this;
    const starts = this.starts.slice(0, length);
    const ends = this.ends.slice(0, length);
    const kinds = this.kinds.slice(0, length);
    return { text, ids: this.takeIds(), starts, ends, kinds };
  }

  #clear() {
    this.length = 0;
    // One huge text must not hold memory for ever.
    if (this.ids.length > 1 << 20) this.#resize(1024);
  }

  #grow() {
    this.#resize(this.ids.length * 2);
  }

  #resize(capacity: number) {
    const keep = this.length;
    const ids = new Int32Array(capacity);
    const starts = new Int32Array(capacity);
    const ends = new Int32Array(capacity);
    const kinds = new Uint8Array(capacity);
    ids.set(this.ids.subarray(0, keep));
    starts.set(this.starts.subarray(0, keep));
    ends.set(this.ends.subarray(0, keep));
    kinds.set(this.kinds.subarray(0, keep));
    this.ids = ids;
    this.starts = starts;
    this.ends = ends;
    this.kinds = kinds;
  }
}
