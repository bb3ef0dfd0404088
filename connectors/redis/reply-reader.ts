import { isAscii } from 'node:buffer';
import { ReplyError } from 'ioredis';

/** A value of a reply: a text, a whole number, nothing, a list; or the error that a command ended with. */
export type Reply = string | number | null | Error | Reply[];

interface List {
  readonly items: Reply[];
  /** Items that are still to come. */
  left: number;
}

/** First bytes of the kinds of values in the protocol of Redis, version 2: https://redis.io/docs/latest/develop/reference/protocol-spec */
const kinds = { text: 0x24, list: 0x2a, line: 0x2b, error: 0x2d, number: 0x3a } as const;
const carriageReturn = 0x0d;
const zero = 0x30;
const nine = 0x39;
const minus = 0x2d;

/** Short texts are mostly names of fields, the same in every entry: each is made once. */
const shortest = 16;
const places = 256;

/** Reads replies from the bytes of a connection, as they come. */
export class ReplyReader {
  readonly #told: (reply: Reply) => void;
  /** Lists that are not whole yet, the outermost first. */
  readonly #lists: List[] = [];
  /** Bytes of a value that is not whole yet, and how many there must be before it can be. */
  #kept: Buffer[] = [];
  #length = 0;
  #wanted = 0;
  readonly #short = new Array<string | undefined>(places).fill(undefined);

  /** @param told is called with each reply once it is whole */
  constructor(told: (reply: Reply) => void) {
    this.#told = told;
  }

  /** @throws Error for bytes that are no reply */
  push(chunk: Buffer): void {
    this.#kept.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return;
    const bytes = this.#kept.length === 1 ? chunk : Buffer.concat(this.#kept, this.#length);
    const read = this.#read(bytes);
    this.#kept = read < bytes.length ? [bytes.subarray(read)] : [];
    this.#length = bytes.length - read;
    this.#wanted -= read;
  }

  /** @returns how many bytes were read: the rest is the beginning of a value */
  #read(bytes: Buffer): number {
    const end = bytes.length;
    const ascii = isAscii(bytes);
    let from = 0;
    for (;;) {
      const kind = bytes[from];
      if (kind === undefined) break;
      if (kind === kinds.line || kind === kinds.error) {
        const to = bytes.indexOf(carriageReturn, from);
        if (to === -1 || to + 2 > end) break;
        const line = bytes.toString('utf8', from + 1, to);
        from = to + 2;
        this.#take(kind === kinds.line ? line : (new ReplyError(line) as Error));
        continue;
      }
      let at = from + 1;
      const negative = bytes[at] === minus;
      if (negative) at += 1;
      let number = 0;
      for (let digit = bytes[at]; digit !== undefined && digit !== carriageReturn; digit = bytes[(at += 1)]) {
        if (digit < zero || digit > nine)
          throw new Error(
            `No reply of Redis begins with the byte ${kind} and goes on with the byte ${digit}.`,
          );
        number = number * 10 + digit - zero;
      }
      at += 2;
      if (at > end) break;
      if (negative) number = -number;
      switch (kind) {
        case kinds.number:
          this.#take(number);
          break;
        case kinds.text: {
          if (number < 0) {
            this.#take(null);
            break;
          }
          const to = at + number;
          if (to + 2 > end) {
            this.#wanted = to + 2;
            return from;
          }
          this.#take(ascii ? this.#ascii(bytes, at, to) : bytes.toString('utf8', at, to));
          at = to + 2;
          break;
        }
        case kinds.list:
          if (number > 0) this.#lists.push({ items: [], left: number });
          else this.#take(number < 0 ? null : []);
          break;
        default:
          throw new Error(`No reply of Redis begins with the byte ${kind}.`);
      }
      from = at;
    }
    this.#wanted = 0;
    return from;
  }

  /** Puts a value where it belongs, and each list that it made whole. */
  #take(value: Reply): void {
    for (;;) {
      const list = this.#lists.at(-1);
      if (list === undefined) return this.#told(value);
      list.items.push(value);
      list.left -= 1;
      if (list.left > 0) return;
      this.#lists.pop();
      value = list.items;
    }
  }

  #ascii(bytes: Buffer, from: number, to: number): string {
    const length = to - from;
    if (length > shortest || length === 0) return bytes.toString('latin1', from, to);
    const place = (length * 31 + bytes[from]! * 7 + bytes[to - 1]!) % places;
    const known = this.#short[place];
    if (known !== undefined && isAt(bytes, from, length, known)) return known;
    return (this.#short[place] = bytes.toString('latin1', from, to));
  }
}

function isAt(bytes: Buffer, from: number, length: number, text: string): boolean {
  if (text.length !== length) return false;
  for (let at = 0; at < length; at += 1) if (bytes[from + at] !== text.charCodeAt(at)) return false;
  return true;
}
