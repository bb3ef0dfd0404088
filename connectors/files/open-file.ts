import { constants, type BigIntStats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { MillraceError } from '../../src/errors/millrace-error.js';
import { isGone, isUnnameable, unnameableFile, unreadableFile } from './file-errors.js';
import type { Folder } from './folder.js';

export type Opened =
  /** The caller closes the handle. */
  | { readonly kind: 'open'; readonly handle: FileHandle; readonly stats: BigIntStats }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unreadable'; readonly error: MillraceError };

// Without O_NONBLOCK, opening a pipe that took the file's place would wait for a writer for ever.
const flags = constants.O_RDONLY | constants.O_NONBLOCK;

/** Opens a listed file for reading. */
export async function openFile(folder: Folder, path: string): Promise<Opened> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder.locate(path), folder.followSymlinks ? flags : flags | constants.O_NOFOLLOW);
    const stats = await handle.stat({ bigint: true });
    if (stats.isFile()) return { kind: 'open', handle, stats };
    await handle.close();
    return { kind: 'gone' };
  } catch (error) {
    await handle?.close();
    if (!isGone(error)) return { kind: 'unreadable', error: unreadableFile(path, error) };
    return isUnnameable(path) ? { kind: 'unreadable', error: unnameableFile(path) } : { kind: 'gone' };
  }
}
