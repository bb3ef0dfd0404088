import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { MillraceError } from '../../errors/millrace-error.js';
import { digestOfBlobName } from './file-digest.js';
import type { HubFile } from './hub-client.js';

/**
 * One model's folder in the hub's own cache layout, which Python tools share: `blobs/<digest>`,
 * `snapshots/<commit>/<path>` linking to a blob, `refs/<branch>`. Our records lie beside them in `.millrace/`: the
 * commit that a branch was resolved to, and what the repository holds at a commit.
 */
export interface HubCache {
  readonly folder: string;
  blob(file: HubFile): string;
  snapshot(commit: string): string;
  /** The commit that a branch was resolved to here; `shared`: by whatever tool. */
  readRef(revision: string, from: 'own' | 'shared'): Promise<string | undefined>;
  writeRef(revision: string, commit: string): Promise<void>;
  /** What the repository holds at a commit, where it is known without asking the hub. */
  readFiles(commit: string): Promise<readonly HubFile[] | undefined>;
  writeFiles(commit: string, files: readonly HubFile[]): Promise<void>;
  /** The files of a snapshot that some other tool made. */
  snapshotFiles(commit: string): Promise<HubFile[]>;
  /** Puts a blob under its name in the snapshot. */
  link(commit: string, file: HubFile): Promise<void>;
}

export function openHubCache(cacheFolder: string, id: string): HubCache {
  const folder = join(cacheFolder, `models--${id.replaceAll('/', '--')}`);
  const own = join(folder, '.millrace');
  const refFile = (revision: string) => join(own, 'refs', encodeURIComponent(revision));
  const filesFile = (commit: string) => join(own, `${commit}.json`);

  /** Makes a file under another name first, so that nobody ever sees half of it. */
  const replace = async (path: string, make: (temporary: string) => Promise<void>) => {
    await mkdir(own, { recursive: true });
    const temporary = join(own, `${randomUUID()}.tmp`);
    await make(temporary);
    await rename(temporary, path);
  };
  const write = async (path: string, content: string) => {
    await mkdir(dirname(path), { recursive: true });
    await replace(path, (temporary) => writeFile(temporary, content));
  };

  const cache: HubCache = {
    folder,
    blob: (file) => join(folder, 'blobs', file.digest.hex),
    snapshot: (commit) => join(folder, 'snapshots', commit),

    async readRef(revision, from) {
      // A branch name may hold slashes, and is a path below `refs` in the shared layout.
      const shared = join(folder, 'refs', ...revision.split('/').filter((part) => !/^\.*$/.test(part)));
      const commit = (await readIfThere(from === 'own' ? refFile(revision) : shared))?.trim();
      return commit !== undefined && /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
    },

    async writeRef(revision, commit) {
      await write(refFile(revision), commit);
      if (/^[\w.-]+$/.test(revision) && !/^\.+$/.test(revision)) {
        await write(join(folder, 'refs', revision), commit);
      }
    },

    async readFiles(commit) {
      const text = await readIfThere(filesFile(commit));
      if (text === undefined) return undefined;
      try {
        return (JSON.parse(text) as { files: HubFile[] }).files;
      } catch (cause) {
        const message = `${filesFile(commit)} is not what was written to it`;
        throw new MillraceError('model_corrupt', message, {
          cause,
          hint: 'Delete that file; it is made again.',
        });
      }
    },

    writeFiles: (commit, files) => write(filesFile(commit), JSON.stringify({ files })),

    async snapshotFiles(commit) {
      const root = cache.snapshot(commit);
      const files: HubFile[] = [];
      for (const entry of await listTree(root)) {
        const target = await readlink(entry).catch(() => undefined);
        const digest = target === undefined ? undefined : digestOfBlobName(basename(target));
        // Without links (some Windows systems) another tool's snapshot says nothing about its files' digests.
        if (digest !== undefined) files.push({ path: slashes(relative(root, entry)), bytes: 0, digest });
      }
      return files;
    },

    async link(commit, file) {
      const name = join(cache.snapshot(commit), ...file.path.split('/'));
      const blob = cache.blob(file);
      const target = relative(dirname(name), blob);
      if ((await readlink(name).catch(() => undefined)) === target) return;
      await mkdir(dirname(name), { recursive: true });
      await replace(name, async (temporary) => {
        // Windows refuses links to plain users, some volumes know none.
        await symlink(target, temporary).catch(() => copyFile(blob, temporary));
      });
    },
  };
  return cache;
}

/** Paths of all files below a folder; none when the folder does not exist. */
export async function listTree(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

/** A path as repositories write it. */
export function slashes(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
