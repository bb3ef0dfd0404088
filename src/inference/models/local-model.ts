import { readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { MillraceError } from '../../errors/millrace-error.js';
import { hashFile, type FileDigest } from './file-digest.js';
import { fileFault } from './file-fault.js';
import { listTree, slashes } from './hub-cache.js';
import type { ModelFile, ModelFolder, SelectFiles } from './model-folder.js';

/** Lists digests of a folder's files in the form of `sha256sum`. */
const sumsFile = 'SHA256SUMS';

/**
 * A model that lies in a folder. Files that its `SHA256SUMS` lists are checked against it; without one they are taken
 * as they are.
 * @throws MillraceError `model_not_found`, `model_corrupt`, `model_unsupported` from `select`
 */
export async function resolveLocalModel(
  path: string,
  select: SelectFiles,
  options: { readonly name?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<ModelFolder> {
  const { name = basename(path), signal } = options;
  const there = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw fileFault(path, error);
  });
  if (there === undefined || !there.isDirectory()) {
    throw new MillraceError('model_not_found', `There is no model folder ${path}`, {
      hint:
        name === 'bundled'
          ? 'The installation of millrace is not complete: install the package again.'
          : 'Check the path: it is relative to the configuration file.',
    });
  }
  const tree = await listTree(path).catch((error: unknown) => {
    throw fileFault(path, error);
  });
  const paths = tree.map((file) => slashes(relative(path, file)));
  const sums = await readSums(path);
  const files = new Map<string, ModelFile>();
  for (const file of select(paths, path)) {
    const { matches, ...found } = await hashFile(join(path, file), sums.get(file), signal).catch(
      (error: unknown) => {
        throw fileFault(join(path, file), error);
      },
    );
    if (!matches) {
      throw new MillraceError('model_corrupt', `${join(path, file)} is truncated or altered`, {
        hint: `Its digest is not the one in ${join(path, sumsFile)}: put the model's files there again.`,
      });
    }
    files.set(file, found);
  }
  return { name, path, files };
}

/** Digests by path; none without the file. */
export async function readSums(folder: string): Promise<ReadonlyMap<string, FileDigest>> {
  const text = await readFile(join(folder, sumsFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw fileFault(join(folder, sumsFile), error);
  });
  const sums = new Map<string, FileDigest>();
  for (const line of text.split(/\r?\n/)) {
    const [, hex, path] = /^([0-9a-f]{64}) [ *](?:\.\/)?(.+)$/.exec(line) ?? [];
    if (hex !== undefined && path !== undefined) sums.set(path, { kind: 'sha256', hex });
  }
  return sums;
}
