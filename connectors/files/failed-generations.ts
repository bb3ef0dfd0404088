import { constants } from 'node:fs';
import { link, mkdir, open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode } from './file-errors.js';

/**
 * The files of a log, `000001.jsonl` and so on: the one with the highest number holds the truth. A number is never made
 * anew by renaming, only by an exclusive link, so a process that was held up can at worst bring back a lower one, which
 * nobody reads.
 */
const shape = /^(\d{6,})\.jsonl$/;
const temporary = /^(\d{6,})\..*\.tmp$/;

export function generationFile(folder: string, generation: number): string {
  return join(folder, `${String(generation).padStart(6, '0')}.jsonl`);
}

/** The highest generation; 0 when there is none. */
export async function highestGeneration(folder: string): Promise<number> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  });
  return names.reduce((highest, name) => Math.max(highest, Number(shape.exec(name)?.[1] ?? 0)), 0);
}

/** Opens a generation for appending and reading; nothing when it is gone. The first one is made where asked. */
export async function openGeneration(
  folder: string,
  generation: number,
  create: boolean,
): Promise<FileHandle | undefined> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  if (create) await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const flags = O_RDWR | O_APPEND | O_NONBLOCK | (create ? O_CREAT : 0);
    const handle = await open(generationFile(folder, generation), flags, 0o600);
    if (create) {
      await syncFolder(folder);
      await syncFolder(dirname(folder));
    }
    return handle;
  } catch (error) {
    if (!create && systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes the generation after a sealed one, whole and durable, and removes what it replaces. Any number of processes may
 * do it at once, and be killed meanwhile: what they write is equal, and the first wins.
 */
export async function succeedGeneration(
  folder: string,
  generation: number,
  token: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const name = generationFile(folder, generation + 1);
  const draft = `${name.slice(0, -'.jsonl'.length)}.${token}.tmp`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await write(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, name);
  } catch (error) {
    // Another process was first; it may have removed our draft, too.
    const code = systemCode(error);
    if (code !== 'EEXIST' && !(code === 'ENOENT' && (await highestGeneration(folder)) > generation))
      throw error;
  }
  await syncFolder(folder);
  await removeUpTo(folder, generation, draft);
}

async function removeUpTo(folder: string, generation: number, draft: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const old = Number(shape.exec(name)?.[1] ?? Infinity) <= generation;
    const abandoned = Number(temporary.exec(name)?.[1] ?? Infinity) <= generation;
    if (old || abandoned || join(folder, name) === draft) await removeFile(join(folder, name));
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
  });
}

/** Makes new names in a folder durable, where the system can do that for folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
