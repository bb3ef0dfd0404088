import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { packFolder } from './folder-archive.js';

/**
 * The archive of a new database with pgvector. It is made once a user, by initdb in five seconds, and kept in the cache
 * folder ($XDG_CACHE_HOME or ~/.cache) for the next database, which then takes under one.
 * @param fresh made anew: the one in the cache is damaged
 */
export async function databaseTemplate(fresh = false): Promise<Uint8Array> {
  const file = templateFile();
  const cached = fresh ? undefined : await readFile(file).catch(() => undefined);
  if (cached !== undefined) return cached;
  const folder = await mkdtemp(join(tmpdir(), 'mr-'));
  try {
    const database = await PGlite.create({ dataDir: folder, extensions: { vector } });
    await database.exec('create extension vector');
    // Shut down in order: the archive of a running database would need recovery each time.
    await database.close();
    const archive = await packFolder(folder);
    await keep(file, archive);
    return archive;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Named for the version of PGlite: an archive of another one would not fit. */
function templateFile(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const require = createRequire(import.meta.url);
  const manifest = join(dirname(require.resolve('@electric-sql/pglite')), '..', 'package.json');
  const { version } = require(manifest) as { version: string };
  return join(cache, 'millrace', `pglite-${version}.gz`);
}

/** Whole or not at all. It only saves time, so a cache that cannot be written is no failure. */
async function keep(file: string, archive: Uint8Array): Promise<void> {
  const partial = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(partial, archive, { mode: 0o600, flush: true });
    await rename(partial, file);
  } catch {
    await rm(partial, { force: true }).catch(() => undefined);
  }
}
