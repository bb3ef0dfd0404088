import { readlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { digestOfBlobName, hashFile } from './file-digest.js';
import { listTree, slashes } from './hub-cache.js';
import { readSums } from './local-model.js';

export interface FileCheck {
  /** Path in the model's folder. */
  readonly path: string;
  readonly bytes: number;
  /** `unchecked`: nothing says what its digest should be. */
  readonly state: 'intact' | 'altered' | 'missing' | 'unchecked';
}

/**
 * Checks every file of a model's folder against the digest that is known for it: the name of its blob in the hub's
 * cache, or its line in `SHA256SUMS`.
 */
export async function verifyModel(folder: string, signal?: AbortSignal): Promise<FileCheck[]> {
  const sums = await readSums(folder);
  const present = (await listTree(folder)).map((file) => slashes(relative(folder, file)));
  const checks: FileCheck[] = [];
  for (const path of new Set([...present, ...sums.keys()])) {
    const file = join(folder, path);
    const target = await readlink(file).catch(() => undefined);
    const isBlob = target !== undefined && basename(dirname(target)) === 'blobs';
    const expected = sums.get(path) ?? (isBlob ? digestOfBlobName(basename(target)) : undefined);
    checks.push(await check(path, file, expected, signal));
  }
  return checks.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function check(
  path: string,
  file: string,
  expected: Parameters<typeof hashFile>[1],
  signal: AbortSignal | undefined,
): Promise<FileCheck> {
  try {
    const { bytes, matches } = await hashFile(file, expected, signal);
    return { path, bytes, state: expected === undefined ? 'unchecked' : matches ? 'intact' : 'altered' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { path, bytes: 0, state: 'missing' };
  }
}
