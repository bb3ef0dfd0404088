import { createRequire } from 'node:module';
import { fdatasyncSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { vector } from '@electric-sql/pglite-pgvector';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { databaseVersion, dataFolder } from './data-folder.js';
import { readTemplate, templateFile, writeTemplate } from './pglite-template.js';

/** Major version of the Postgres inside PGlite. */
const postgresMajor = '18';

/** Opens the database of a folder that this process owns. @throws MillraceError `store_layout` for another version's */
export async function openDatabase(folder: string): Promise<PGlite> {
  const found = await databaseVersion(folder);
  if (found !== postgresMajor)
    throw new MillraceError(
      'store_layout',
      `${folder} was made by Postgres ${found}, this is ${postgresMajor}.`,
      {
        hint: 'Fill a new folder.',
      },
    );
  return start(dataFolder(folder));
}

/** Makes the database of a folder that this process owns: whole, or nothing that a later start would take for one. */
export async function createDatabase(folder: string): Promise<void> {
  for (const entry of await readdir(folder))
    if (entry.startsWith(unfinished)) await rm(join(folder, entry), { recursive: true, force: true });
  const partial = join(folder, `${unfinished}${randomBytes(6).toString('hex')}`);
  await mkdir(partial, { mode: 0o700 });
  const file = templateFile(pgliteVersion());
  const template = await readTemplate(file);
  if (template === undefined || !(await fill(partial, template))) {
    await rm(partial, { recursive: true, force: true });
    const database = await start(partial);
    await database.exec('create extension vector');
    await database.exec('checkpoint');
    await writeTemplate(file, await database.dumpDataDir('gzip'));
    await database.close();
  }
  await rename(partial, dataFolder(folder));
  await syncFolder(folder);
}

const unfinished = 'unfinished-';

/** @returns false when the archive is of no use */
async function fill(target: string, template: Blob): Promise<boolean> {
  try {
    const database = await start(target, template);
    await database.close();
    return true;
  } catch {
    return false;
  }
}

async function start(target: string, template?: Blob): Promise<PGlite> {
  return PGlite.create({
    fs: durableFiles(target),
    extensions: { vector },
    startParams,
    ...(template === undefined ? {} : { loadDataDir: template }),
  });
}

/** PGlite switches fsync off (`-F`) and its emulation of fdatasync does nothing, but that of fsync asks the file system. */
const startParams = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...['-c', 'wal_sync_method=fsync', '-c', 'maintenance_work_mem=256MB', '-c', 'jit=off'],
];

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

/** Files on the disk, where PGlite's own file system leaves out fsync: what is committed survives a power cut too. */
function durableFiles(target: string): NodeFS {
  const files = new NodeFS(target);
  const init = files.init.bind(files);
  files.init = async (database, options) => {
    const started = await init(database, options);
    const preRun = started.emscriptenOpts.preRun ?? [];
    const addFsync = (module: unknown) => {
      (module as EmscriptenModule).FS.filesystems.NODEFS.stream_ops.fsync = ({ nfd }) => {
        fdatasyncSync(nfd);
        return 0;
      };
    };
    const all = [...(Array.isArray(preRun) ? preRun : [preRun]), addFsync];
    return { ...started, emscriptenOpts: { ...started.emscriptenOpts, preRun: all as never } };
  };
  return files;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

function pgliteVersion(): string {
  const require = createRequire(import.meta.url);
  const manifest = join(dirname(require.resolve('@electric-sql/pglite')), '..', 'package.json');
  return (require(manifest) as { version: string }).version;
}
