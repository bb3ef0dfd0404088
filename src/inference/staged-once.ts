import type { ModelFolder } from './models/model-folder.js';

/** Takes files to where a model can be loaded from as often as need be. */
export type StageFiles = (folder: ModelFolder, signal: AbortSignal) => Promise<ModelFolder>;

/** Stages a folder at the first load of its model; later loads find it there. A failure leaves it to the next. */
export function stagedOnce(
  folder: ModelFolder,
  stage: StageFiles | undefined,
): (signal: AbortSignal) => Promise<ModelFolder> {
  let staged: Promise<ModelFolder> | undefined;
  return async (signal) => {
    if (stage === undefined) return folder;
    staged ??= stage(folder, signal);
    try {
      return await staged;
    } catch (error) {
      staged = undefined;
      throw error;
    }
  };
}
