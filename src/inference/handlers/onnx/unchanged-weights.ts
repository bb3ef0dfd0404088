import { MillraceError } from '../../../errors/millrace-error.js';
import { hashFile } from '../../models/file-digest.js';
import type { WeightsFile } from './weights-file.js';

/** Workers load when they are first needed, or after a crash: by then another model may lie under the same path. */
export async function checkUnchanged(weights: readonly WeightsFile[]): Promise<void> {
  for (const { path, sha256 } of weights) {
    const { matches } = await hashFile(path, { kind: 'sha256', hex: sha256 });
    if (!matches) {
      throw new MillraceError('model_corrupt', `${path} has changed since its model was loaded`, {
        hint: 'Do not change the files of a model in place: load the new one under another path.',
      });
    }
  }
}
