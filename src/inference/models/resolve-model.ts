import { fileURLToPath } from 'node:url';
import { resolveHubModel, type HubModelOptions } from './hub-model.js';
import { resolveLocalModel } from './local-model.js';
import type { ModelFolder, SelectFiles } from './model-folder.js';
import { parseModelRef } from './model-ref.js';

export interface ResolveModelOptions extends HubModelOptions {
  /** Branch, tag or commit on the hub. */
  readonly revision?: string | undefined;
  /** Folder that relative paths refer to. */
  readonly baseFolder: string;
  readonly select: SelectFiles;
}

/**
 * Finds a model: the bundled one, a folder, or one of the hub (from its cache where it is whole, else fetched). The
 * files that `select` names are there and intact when this resolves; hashing them takes about a second a gigabyte.
 * @param model `bundled`, a folder, or a hub id `owner/name`
 * @throws MillraceError `config_invalid`, `model_not_found`, `model_corrupt`, `model_unsupported`, `remote_unavailable`,
 * or the signal's reason
 */
export async function resolveModel(model: string, options: ResolveModelOptions): Promise<ModelFolder> {
  const { select, signal } = options;
  const ref = await parseModelRef(model, options.revision, options.baseFolder);
  switch (ref.kind) {
    case 'bundled':
      return resolveLocalModel(bundledFolder(), select, { name: 'bundled', signal });
    case 'folder':
      return resolveLocalModel(ref.path, select, { signal });
    case 'hub':
      return resolveHubModel(ref.id, ref.revision, select, options);
    default:
      return ref satisfies never;
  }
}

/** Absolute path of the model that comes with the package; its files lie beside the sources, not in `dist`. */
export function bundledFolder(): string {
  return fileURLToPath(new URL('../../../../src/inference/bundled', import.meta.url));
}
