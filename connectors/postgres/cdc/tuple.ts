import type { Reader } from './reader.js';

/**
 * The values of a row in the order of its columns, in Postgres's text form. null: NULL. undefined: the stream leaves it
 * out, since it lies apart from the row (TOAST) and did not change; or it is not wanted.
 */
export interface Tuple {
  readonly values: (string | null | undefined)[];
  /** Of all values that were wanted. */
  bytes: number;
  /** A value was longer than allowed: it was not read. */
  cut: boolean;
}

const nullMark = 0x6e;
const unchangedMark = 0x75;

export function readTuple(reader: Reader, wanted: readonly boolean[], maxValueBytes: number): Tuple {
  const count = reader.uint16();
  const values: (string | null | undefined)[] = new Array(count);
  let bytes = 0;
  let cut = false;
  for (let at = 0; at < count; at += 1) {
    const mark = reader.byte();
    if (mark === nullMark) {
      values[at] = null;
      continue;
    }
    if (mark === unchangedMark) continue;
    const length = reader.uint32();
    if (wanted[at] !== true) {
      reader.skip(length);
      continue;
    }
    bytes += length;
    if (length > maxValueBytes) {
      cut = true;
      values[at] = null;
      reader.skip(length);
    } else values[at] = reader.text(length);
  }
  return { values, bytes, cut };
}
