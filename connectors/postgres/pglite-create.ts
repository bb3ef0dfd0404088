import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFolder } from './data-folder.js';
import { databaseTemplate } from './pglite-template.js';
import { syncFolder, unpackFolder } from './folder-archive.js';

const unfinished = 'unfinished-';

/** Makes the database of a folder that this process owns: whole, or nothing that a later start would take for one. */
export async function createDatabase(folder: string): Promise<void> {
  for (const entry of await readdir(folder))
    if (entry.startsWith(unfinished)) await rm(join(folder, entry), { recursive: true, force: true });
  const partial = join(folder, `${unfinished}${randomBytes(6).toString('hex')}`);
  await mkdir(partial, { mode: 0o700 });
  try {
    await unpackFolder(await databaseTemplate(), partial);
  } catch {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { mode: 0o700 });
    await unpackFolder(await databaseTemplate(true), partial);
  }
  await rename(partial, dataFolder(folder));
  await syncFolder(folder);
}
