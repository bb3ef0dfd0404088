import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folder of the database proper, beside the owner's sockets. */
export function dataFolder(folder: string): string {
  return join(folder, 'pgdata');
}

/** Major version of the Postgres that made the folder's database, or undefined when there is none. */
export async function databaseVersion(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataFolder(folder), 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function databaseExists(folder: string): Promise<boolean> {
  return (await databaseVersion(folder)) !== undefined;
}
