import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listTree } from './hub-cache.js';

export interface CachedModel {
  /** Hub id. */
  readonly name: string;
  /** Commit, 40 hex characters. */
  readonly revision: string;
  /** The snapshot's folder. */
  readonly path: string;
  /** Bytes of its files, without those still missing. */
  readonly bytes: number;
}

/** The models in a hub cache, one entry a commit, by name; none when the folder does not exist. */
export async function listModels(cacheFolder: string): Promise<CachedModel[]> {
  const models: CachedModel[] = [];
  for (const folder of await namesIn(cacheFolder)) {
    if (!folder.startsWith('models--')) continue;
    const name = folder.slice('models--'.length).replaceAll('--', '/');
    for (const revision of await namesIn(join(cacheFolder, folder, 'snapshots'))) {
      const path = join(cacheFolder, folder, 'snapshots', revision);
      let bytes = 0;
      for (const file of await listTree(path)) {
        // A link whose blob is gone counts nothing; `verifyModel` names it.
        bytes += (await stat(file).catch(() => undefined))?.size ?? 0;
      }
      models.push({ name, revision, path, bytes });
    }
  }
  return models.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
