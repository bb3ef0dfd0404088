import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Notice } from '../../src/contracts/context.js';
import { isGone, isUnnameable, systemCode } from './file-errors.js';
import type { Folder } from './folder.js';

export interface ListReport {
  /** Whatever has an id with this prefix could not be seen, so nothing there may count as vanished. */
  spare(prefix: string): void;
  notify(notice: Notice): void;
}

/** Names held at once: a folder with more is listed in blocks, sorted within each. */
const blockSize = 16_384;

interface Pending {
  readonly path: string;
  /** Device and inode of the folders above, where links are followed: a folder below itself is a loop. */
  readonly above: readonly string[];
}

/**
 * The files of a folder that its globs choose, in blocks: first those of a folder, by name, then its folders, by name.
 * Memory does not grow with the number of files.
 * @throws MillraceError `source_unavailable` when the root cannot be listed
 */
export async function* listFiles(
  folder: Folder,
  report: ListReport,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const pending: Pending[] = [{ path: '', above: [] }];
  let links = 0;
  for (let at = pending.pop(); at !== undefined && !signal.aborted; at = pending.pop()) {
    const above = folder.followSymlinks ? await chain(folder, at, report) : at.above;
    if (above === undefined) continue;
    const folders: string[] = [];
    let files: string[] = [];
    try {
      for await (const entry of await opendir(folder.locate(at.path), { bufferSize: 1024 })) {
        if (signal.aborted) return;
        const path = at.path === '' ? entry.name : `${at.path}/${entry.name}`;
        switch (await kindOf(folder, path, entry, report)) {
          case 'file':
            files.push(path);
            break;
          case 'folder':
            folders.push(path);
            break;
          case 'link':
            links += 1;
            break;
          case 'none':
        }
        if (files.length < blockSize) continue;
        yield files.sort();
        files = [];
      }
    } catch (error) {
      unlisted(folder, at.path, error, report);
    }
    if (files.length > 0) yield files.sort();
    for (const path of folders.sort().reverse()) pending.push({ path, above });
  }
  if (links > 0)
    report.notify({
      level: 'info',
      code: 'links_not_followed',
      message: `${links} symbolic links under ${folder.root} were not followed; \`followSymlinks\` reads them.`,
    });
}

type Kind = 'file' | 'folder' | 'link' | 'none';

async function kindOf(folder: Folder, path: string, entry: Dirent, report: ListReport): Promise<Kind> {
  const { globs } = folder;
  if (entry.isDirectory()) return globs.folder(path) ? 'folder' : 'none';
  const chosen = globs.file(path);
  if (entry.isFile()) return chosen ? 'file' : 'none';
  if (entry.isSymbolicLink()) {
    if (!chosen && !globs.folder(path)) return 'none';
    return folder.followSymlinks ? kindBehind(folder, path, chosen, report) : 'link';
  }
  if (chosen) notAFile(path, report);
  return 'none';
}

async function kindBehind(folder: Folder, path: string, chosen: boolean, report: ListReport): Promise<Kind> {
  try {
    const target = await stat(folder.locate(path));
    if (target.isDirectory()) return folder.globs.folder(path) ? 'folder' : 'none';
    if (target.isFile()) return chosen ? 'file' : 'none';
    if (chosen) notAFile(path, report);
  } catch (error) {
    // What the link led to may only be away for a while, like a drive.
    report.spare(path);
    report.notify({
      level: 'warn',
      code: 'link_broken',
      message: `${path} is a symbolic link that leads nowhere (${systemCode(error)}); what was read behind it stays.`,
    });
  }
  return 'none';
}

function notAFile(path: string, report: ListReport): void {
  report.notify({
    level: 'warn',
    code: 'not_a_file',
    message: `${path} is not a regular file and was not read.`,
  });
}

async function chain(
  folder: Folder,
  { path, above }: Pending,
  report: ListReport,
): Promise<readonly string[] | undefined> {
  const stats = await stat(folder.locate(path), { bigint: true }).catch((error: unknown) =>
    unlisted(folder, path, error, report),
  );
  if (stats === undefined) return undefined;
  const self = `${stats.dev}:${stats.ino}`;
  if (!above.includes(self)) return [...above, self];
  report.notify({ level: 'info', code: 'link_loop', message: `${path} leads back to a folder above it.` });
  return undefined;
}

function unlisted(folder: Folder, path: string, error: unknown, report: ListReport): undefined {
  if (path === '') throw rootUnavailable(folder.root, error);
  if (isGone(error) && !isUnnameable(path)) return;
  report.spare(`${path}/`);
  report.notify({
    level: 'warn',
    code: 'folder_unlisted',
    message: `The folder ${JSON.stringify(path)} cannot be listed (${systemCode(error)}); what was read from it stays.`,
  });
}

export function rootUnavailable(root: string, error: unknown): MillraceError {
  return new MillraceError(
    'source_unavailable',
    `The folder ${root} cannot be listed: ${systemCode(error)}.`,
    {
      cause: error,
      hint: 'Check `root` in the configuration, that the drive is there, and the rights of the user that runs Millrace.',
    },
  );
}
