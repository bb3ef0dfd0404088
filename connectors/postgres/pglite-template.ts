import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Where a new database is kept as an archive, so that the next one is made in about a second: initdb takes five.
 * @param version of PGlite: an archive of another one would not fit
 */
export function templateFile(version: string): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'millrace', `pglite-${version}.tgz`);
}

/** @returns undefined when there is none yet, or none that can be read */
export async function readTemplate(file: string): Promise<Blob | undefined> {
  const bytes = await readFile(file).catch(() => undefined);
  return bytes === undefined ? undefined : new Blob([bytes]);
}

/** Whole or not at all. It only saves time, so a cache that cannot be written is no failure. */
export async function writeTemplate(file: string, archive: Blob): Promise<void> {
  const partial = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(partial, Buffer.from(await archive.arrayBuffer()), { mode: 0o600, flush: true });
    await rename(partial, file);
  } catch {
    await rm(partial, { force: true });
  }
}
