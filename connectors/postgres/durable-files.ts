import { fdatasyncSync, fstatSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface NodeStream {
  /** File descriptor of the real file. */
  readonly nfd: number;
}

interface EmscriptenModule {
  readonly FS: {
    readonly filesystems: {
      readonly NODEFS: { readonly stream_ops: { fsync?(stream: NodeStream): number } };
    };
  };
}

export interface DurableFiles {
  /** What PGlite takes as its file system. */
  readonly files: NodeFS;
  /** The database is open, so all that lay there when it began to open is on the disk. */
  opened(): Promise<void>;
}

/** Clocks of the kernel's file times and of the process differ by less than this. */
const marginMs = 2000;

/**
 * Files that reach the disk when Postgres asks for it: PGlite's own file system leaves out fsync. After a crash Postgres
 * asks for each of a thousand files; those not changed since the last time all were on the disk are passed over.
 * @param folder holds the note of that time
 */
export function durableFiles(target: string, folder: string): DurableFiles {
  const note = join(folder, 'synced-at');
  const syncedAt = readTime(note);
  const began = Date.now();
  let opening = true;

  const fsync = ({ nfd }: NodeStream): number => {
    if (!opening || fstatSync(nfd).mtimeMs > syncedAt - marginMs) fdatasyncSync(nfd);
    return 0;
  };
  const files = new NodeFS(target);
  const init = files.init.bind(files);
  files.init = async (database, options) => {
    const { emscriptenOpts } = await init(database, options);
    const addFsync = (module: unknown) => {
      (module as EmscriptenModule).FS.filesystems.NODEFS.stream_ops.fsync = fsync;
    };
    const preRun = [emscriptenOpts.preRun ?? []].flat();
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...preRun, addFsync] as never } };
  };
  return {
    files,
    opened: async () => {
      opening = false;
      await writeFile(`${note}.new`, String(began), { mode: 0o600, flush: true });
      await rename(`${note}.new`, note);
    },
  };
}

function readTime(note: string): number {
  try {
    return Number(readFileSync(note, 'utf8')) || 0;
  } catch {
    return 0;
  }
}
