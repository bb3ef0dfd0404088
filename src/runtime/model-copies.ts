import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelFolder } from '../inference/models/model-folder.js';
import { stageFolder } from '../inference/refresh/stage-folder.js';

/** Copies of a folder whose files may change while models are loaded from them. */
export interface ModelCopies {
  /** A copy of what the folder holds now. */
  make(folder: ModelFolder, signal?: AbortSignal): Promise<ModelFolder>;
  /** Ends the trial of the newest copy: it takes the place of the one before, or goes. The very first one stays. */
  settle(taken: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function openModelCopies(): Promise<ModelCopies> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-models-'));
  const remove = (path: string) => rm(path, { recursive: true, force: true });
  /** The chunker tokenises with the files of this one for as long as the run goes on. */
  let first: string | undefined;
  let current: string | undefined;
  let newest: string | undefined;
  return {
    async make(folder, signal) {
      const copy = await stageFolder(folder, join(root, randomUUID()), signal);
      if (newest !== undefined && newest !== current) await remove(newest);
      newest = copy.path;
      first ??= copy.path;
      current ??= copy.path;
      return copy;
    },
    async settle(taken) {
      if (newest === undefined || newest === current) return;
      const gone = taken ? current : newest;
      if (taken) current = newest;
      newest = current;
      if (gone !== undefined && gone !== first) await remove(gone);
    },
    close: () => remove(root),
  };
}
