import type { FileHandle } from 'node:fs/promises';
import type { MillraceError } from '../../src/errors/millrace-error.js';
import { decodeText } from './decode-text.js';
import { tooLarge, unreadableFile } from './file-errors.js';
import type { Folder } from './folder.js';
import { openFile } from './open-file.js';

/**
 * Reads one text file whole, strictly as UTF-8. Never holds more than `maxBytes` of it.
 * @returns the text, or why it cannot be had; nothing when no file is there any more
 */
export async function readText(
  folder: Folder,
  path: string,
  maxBytes: number,
): Promise<string | MillraceError | undefined> {
  const opened = await openFile(folder, path);
  if (opened.kind === 'gone') return undefined;
  if (opened.kind === 'unreadable') return opened.error;
  const { handle, stats } = opened;
  try {
    const bytes = stats.size > maxBytes ? undefined : await readUpTo(handle, Number(stats.size), maxBytes);
    return bytes === undefined ? tooLarge(path, maxBytes) : decodeText(bytes, path);
  } catch (error) {
    return unreadableFile(path, error);
  } finally {
    await handle.close();
  }
}

/** All bytes, also when there are more than the size said; nothing when there are more than `maxBytes`. */
async function readUpTo(handle: FileHandle, size: number, maxBytes: number): Promise<Buffer | undefined> {
  // One byte more than expected, so that the end is met without a larger buffer.
  let buffer = Buffer.allocUnsafeSlow(size + 1);
  for (let length = 0; ;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
    if (length > maxBytes) return undefined;
    if (length < buffer.length) continue;
    const larger = Buffer.allocUnsafeSlow(Math.min(length * 2, maxBytes) + 1);
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  }
}
