import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A download that is not complete yet. Each process writes its own; what a dead one left behind is taken over. */
export interface PartialFile {
  readonly path: string;
  /** Open for writing. */
  readonly handle: FileHandle;
  /** Bytes that an earlier attempt left. */
  readonly bytes: number;
}

/** A live download touches its file at least this often: it gives up a silent connection earlier. */
const silentForMs = 120_000;

/** Opens a partial file for `target` in the same folder, taking over the largest one whose process is gone. */
export async function openPartialFile(target: string): Promise<PartialFile> {
  const path = await claimName(target);
  const born = (await stat(path)).mtimeMs;
  const orphans: { path: string; bytes: number }[] = [];
  for (const other of await partialsOf(target)) {
    if (other.path === path) continue;
    const found = await stat(other.path).catch(() => undefined);
    if (found !== undefined && isOrphan(other, found.mtimeMs, born)) {
      orphans.push({ path: other.path, bytes: found.size });
    }
  }
  orphans.sort((a, b) => b.bytes - a.bytes);
  for (const [at, orphan] of orphans.entries()) {
    // Renaming is the claim: of two processes only one finds the file.
    if (at === 0) await rename(orphan.path, path).catch(ignoreMissing);
    else await rm(orphan.path, { force: true });
  }
  const handle = await open(path, 'r+');
  // What was taken over is in use again, before its first byte comes.
  await handle.utimes(born / 1_000, born / 1_000);
  return { path, handle, bytes: (await handle.stat()).size };
}

/** Leaves what was fetched to whoever tries next, this process too: by its time it is a file that nobody writes to. */
export async function giveUp({ handle }: PartialFile): Promise<void> {
  // A volume that cannot do so leaves it to age.
  await handle.utimes(0, 0).catch(() => undefined);
}

async function claimName(target: string): Promise<string> {
  const host = hostname().replace(/[^\w-]/g, '-');
  for (let turn = 0; ; turn++) {
    const path = `${target}.${host}.${process.pid}.${turn}.part`;
    try {
      await (await open(path, 'wx')).close();
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

interface Partial {
  readonly path: string;
  readonly host: string;
  readonly pid: number;
}

async function partialsOf(target: string): Promise<Partial[]> {
  const folder = dirname(target);
  const start = `${basename(target)}.`;
  return (await readdir(folder)).flatMap((name) => {
    const [, host, pid] = name.startsWith(start)
      ? (/^([\w-]+)\.(\d+)\.\d+\.part$/.exec(name.slice(start.length)) ?? [])
      : [];
    return host === undefined ? [] : [{ path: join(folder, name), host, pid: Number(pid) }];
  });
}

/** `now` is the time of the file system, so clocks of two machines on one volume need not agree. */
function isOrphan({ host, pid }: Partial, touched: number, now: number): boolean {
  if (now - touched > silentForMs) return true;
  if (host !== hostname().replace(/[^\w-]/g, '-')) return false;
  // In a restarted container the new process often has the old one's id.
  if (pid === process.pid) return touched < performance.timeOrigin;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
