import { sep } from 'node:path';
import type { Globs } from './globs.js';

/** The folder that is read. Paths inside it are relative, with forward slashes; the root is ''. */
export interface Folder {
  /** Absolute path. */
  readonly root: string;
  readonly globs: Globs;
  readonly followSymlinks: boolean;
  /** The absolute path of a relative one. */
  locate(path: string): string;
}

export function folderAt(root: string, globs: Globs, followSymlinks: boolean): Folder {
  const start = root.endsWith(sep) ? root : root + sep;
  return { root, globs, followSymlinks, locate: (path) => (path === '' ? root : start + path) };
}
