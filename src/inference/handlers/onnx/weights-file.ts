import { join } from 'node:path';
import type { ModelFolder } from '../../models/model-folder.js';
import type { OnnxFiles } from './model-files.js';

/** A file of a model's weights, for the workers that load it: plain data. */
export interface WeightsFile {
  /** Absolute path. */
  readonly path: string;
  /** The path to tell people of: of a copy, that of the file that it is a copy of. */
  readonly shown: string;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** The graph, and after it the files that hold its weights when it does not itself. */
export function weightsFiles({ graph, data }: OnnxFiles, folder: ModelFolder): WeightsFile[] {
  return [graph, ...data].map((path) => ({
    path: join(folder.path, path),
    shown: join(folder.copyOf ?? folder.path, path),
    sha256: folder.files.get(path)!.sha256,
  }));
}
