import { constants } from 'node:fs';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MillraceError } from '../../errors/millrace-error.js';
import { hashFile } from '../models/file-digest.js';
import { fileFault } from '../models/file-fault.js';
import type { ModelFolder } from '../models/model-folder.js';

/**
 * Copies a model's files to another folder, where the system can without copying their content. A watched folder changes
 * under the model that was loaded from it, which workers may yet have to load again: after a crash, or when its successor
 * does not do.
 * @throws MillraceError `model_corrupt` when a file changed since it was looked at: the copy is removed
 */
export async function stageFolder(
  folder: ModelFolder,
  target: string,
  signal?: AbortSignal,
): Promise<ModelFolder> {
  try {
    for (const [path, { sha256 }] of folder.files) {
      signal?.throwIfAborted();
      const copy = join(target, path);
      await mkdir(dirname(copy), { recursive: true });
      await copyFile(join(folder.path, path), copy, constants.COPYFILE_FICLONE).catch((error: unknown) => {
        throw copyFault(join(folder.path, path), target, error);
      });
      const { matches } = await hashFile(copy, { kind: 'sha256', hex: sha256 }, signal);
      if (!matches)
        throw new MillraceError('model_corrupt', `${join(folder.path, path)} changed while it was read`, {
          hint: 'Put the files of a model there in one go: the next look takes them when they rest.',
        });
    }
    return { ...folder, path: target, copyOf: folder.copyOf ?? folder.path };
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  }
}

function copyFault(from: string, target: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return fileFault(from, error);
  return new MillraceError(
    'resources_insufficient',
    `There is no room in ${dirname(target)} for a copy of ${from}`,
    {
      cause: error,
      hint: 'Make room there, or name another folder for temporary files by TMPDIR.',
    },
  );
}
