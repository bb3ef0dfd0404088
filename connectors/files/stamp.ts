import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { isGone, isUnnameable, systemCode } from './file-errors.js';
import type { Folder } from './folder.js';

/** Tells one state of a file from another: two looks with equal stamps saw the same content. */
export type Stamp = string;

/** What can be known of a file without opening it. */
export interface Look {
  readonly stamp: Stamp;
  /** Device and inode: the same however the content changes. */
  readonly file: string;
  /** Bytes; 0 when unknown. */
  readonly size: number;
  /** Last change of content or attributes, in nanoseconds since 1970. */
  readonly changedAt: bigint;
}

export function lookFrom({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Look {
  const file = `${dev.toString(36)}.${ino.toString(36)}`;
  const stamp = `${file}.${size.toString(36)}.${mtimeNs.toString(36)}.${ctimeNs.toString(36)}`;
  return { stamp, file, size: Number(size), changedAt: ctimeNs };
}

/** What is at a path now; nothing when no file is. A file that nobody may look at has a stamp that says so. */
export async function lookAt(folder: Folder, path: string): Promise<Look | undefined> {
  try {
    const look = folder.followSymlinks ? stat : lstat;
    const stats = await look(folder.locate(path), { bigint: true });
    return stats.isFile() ? lookFrom(stats) : undefined;
  } catch (error) {
    if (isGone(error) && !isUnnameable(path)) return undefined;
    const stamp = `unseen:${systemCode(error)}`;
    return { stamp, file: stamp, size: 0, changedAt: 0n };
  }
}

const second = 1_000_000_000n;

/**
 * Whether a write that comes later in the same tick of the file system's clock could leave the stamp as it is. Ticks are
 * up to 10 ms on Linux; a time in whole seconds is taken for that of a file system that keeps no finer ones (2 s on FAT).
 */
export function isFresh({ changedAt }: Look, now: number): boolean {
  const tick = changedAt % second === 0n ? 2000 : 20;
  return Number(changedAt / 1_000_000n) > now - tick;
}
