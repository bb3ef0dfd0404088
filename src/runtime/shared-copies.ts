import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { modelKey } from '../inference/model-key.js';
import type { ModelFolder } from '../inference/models/model-folder.js';
import { stageFolder } from '../inference/refresh/stage-folder.js';
import { openTemporaryRoot, type TemporaryRoot } from './temporary-root.js';

/** One use of a copy. */
export interface SharedCopy {
  readonly folder: ModelFolder;
  /** Ends the use, once; the copy goes with its last one. */
  release(): Promise<void>;
}

/**
 * Copies of folders whose files may change while models are loaded from them. Folders with equal files have one copy, as
 * they have one loaded model: whoever uses that model must find its files, whoever loaded it.
 */
export interface SharedCopies {
  /** @throws MillraceError `model_corrupt` when a file changed since it was looked at */
  take(folder: ModelFolder, signal?: AbortSignal): Promise<SharedCopy>;
  close(): Promise<void>;
}

interface Copy {
  /** Where it is, once it is whole. */
  readonly path: Promise<string>;
  uses: number;
}

export function createSharedCopies(): SharedCopies {
  const copies = new Map<string, Copy>();
  let root: Promise<TemporaryRoot> | undefined;

  async function copyOf(folder: ModelFolder, signal: AbortSignal | undefined): Promise<string> {
    root ??= openTemporaryRoot();
    return (await stageFolder(folder, join((await root).path, randomUUID()), signal)).path;
  }

  function forget(key: string, copy: Copy): void {
    if (copies.get(key) === copy) copies.delete(key);
  }

  async function take(folder: ModelFolder, signal?: AbortSignal): Promise<SharedCopy> {
    const key = modelKey('copy', folder, undefined);
    const there = copies.get(key);
    const copy = there ?? { path: copyOf(folder, signal), uses: 0 };
    copies.set(key, copy);
    copy.uses += 1;
    let path: string;
    try {
      path = await copy.path;
    } catch (error) {
      forget(key, copy);
      // It was made from another folder: this one may be whole.
      if (there !== undefined) return take(folder, signal);
      throw error;
    }
    let over = false;
    return {
      folder: { ...folder, path, copyOf: folder.copyOf ?? folder.path },
      async release() {
        if (over) return;
        over = true;
        copy.uses -= 1;
        if (copy.uses > 0) return;
        forget(key, copy);
        await rm(path, { recursive: true, force: true });
      },
    };
  }

  return {
    take,
    async close() {
      await (await root?.catch(() => undefined))?.close();
    },
  };
}
