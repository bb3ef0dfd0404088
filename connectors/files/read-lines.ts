import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** One line without its line ending (LF or CRLF), not decoded. */
export interface Line {
  /** Absent when the line is over the limit. */
  readonly bytes: Buffer | undefined;
  /** From 1. */
  readonly number: number;
  /** Place of the first byte in the file. */
  readonly start: number;
  /** Place after the line and its ending. */
  readonly end: number;
  /** A newline follows. */
  readonly terminated: boolean;
  /** SHA-256 of a line over the limit, hex. */
  readonly digest: string | undefined;
}

export interface LineOptions {
  /** A longer line is skipped to its end and handed over without its bytes. */
  readonly maxBytes: number;
  /** Bytes read at once. */
  readonly bufferBytes?: number;
  /** Place in the file to begin at: the start of a line. */
  readonly from?: number;
}

const newline = 10;
const carriageReturn = 13;

/**
 * The lines of a file, as many at once as a buffer completes. Lines are cut by bytes, so no character can fall apart at
 * the edge of a buffer.
 */
export async function* readLines(handle: FileHandle, options: LineOptions): AsyncGenerator<readonly Line[]> {
  const { maxBytes, bufferBytes = 65_536, from = 0 } = options;
  const cutter = lineCutter(maxBytes, from);
  for (let position = from; ;) {
    // A buffer of its own for each read: the lines are parts of it.
    const buffer = Buffer.allocUnsafeSlow(bufferBytes);
    const { bytesRead } = await handle.read(buffer, 0, bufferBytes, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const lines = cutter.add(buffer.subarray(0, bytesRead));
    if (lines.length > 0) yield lines;
  }
  const last = cutter.end();
  if (last !== undefined) yield [last];
}

export interface LineCutter {
  /** @returns the lines that these bytes complete */
  add(bytes: Buffer): readonly Line[];
  /** @returns what comes after the last newline, when that is anything */
  end(): Line | undefined;
}

/** Cuts bytes that come in pieces into lines. */
export function lineCutter(maxBytes: number, from = 0): LineCutter {
  let parts: Buffer[] = [];
  let length = 0;
  let start = from;
  let number = 1;
  let skipped: Hash | undefined;

  const take = (part: Buffer): void => {
    length += part.length;
    if (skipped === undefined) {
      parts.push(part);
      // A CR before the newline is no part of the line, so the limit is passed only one byte later.
      if (length <= maxBytes + 1) return;
      skipped = createHash('sha256');
      for (const earlier of parts) skipped.update(earlier);
      parts = [];
    } else skipped.update(part);
  };

  const finish = (terminated: boolean): Line => {
    let bytes: Buffer | undefined;
    if (skipped === undefined) {
      bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      if (terminated && bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    }
    const over = skipped !== undefined || bytes!.length > maxBytes;
    const digest = over ? (skipped ?? createHash('sha256').update(bytes!)).digest('hex') : undefined;
    const end = start + length + (terminated ? 1 : 0);
    const line = { bytes: over ? undefined : bytes, number, start, end, terminated, digest };
    start = end;
    number += 1;
    parts = [];
    length = 0;
    skipped = undefined;
    return line;
  };

  return {
    add(bytes) {
      const lines: Line[] = [];
      let at = 0;
      for (let next = bytes.indexOf(newline); next !== -1; next = bytes.indexOf(newline, at)) {
        take(bytes.subarray(at, next));
        lines.push(finish(true));
        at = next + 1;
      }
      if (at < bytes.length) take(bytes.subarray(at));
      return lines;
    },
    end: () => (length === 0 ? undefined : finish(false)),
  };
}
