import type { ModelFolder } from '../inference/models/model-folder.js';
import type { SharedCopies, SharedCopy } from './shared-copies.js';

/** The copies that one model of a run has of its folder. */
export interface ModelCopies {
  /** A copy of what the folder holds now. */
  make(folder: ModelFolder, signal?: AbortSignal): Promise<ModelFolder>;
  /** Ends the trial of the newest copy: it takes the place of the one before, or goes. The very first one stays. */
  settle(taken: boolean): Promise<void>;
}

export function createModelCopies(shared: SharedCopies): ModelCopies {
  /** The chunker tokenises with the files of this one for as long as the run goes on. */
  let first: SharedCopy | undefined;
  let current: SharedCopy | undefined;
  let newest: SharedCopy | undefined;
  return {
    async make(folder, signal) {
      const copy = await shared.take(folder, signal);
      if (newest !== current) await newest?.release();
      newest = copy;
      first ??= copy;
      current ??= copy;
      return copy.folder;
    },
    async settle(taken) {
      if (newest === current) return;
      const gone = taken ? current : newest;
      if (taken) current = newest;
      newest = current;
      if (gone !== first) await gone?.release();
    },
  };
}
