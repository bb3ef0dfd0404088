import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { MillraceError } from '../../errors/millrace-error.js';

/** Where a model comes from. */
export type ModelRef =
  | { readonly kind: 'bundled' }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'hub'; readonly id: string; readonly revision: string };

/**
 * Reads a model reference: `bundled`; a folder (absolute, or beginning with `.`, or one that exists below
 * `baseFolder`); else a hub id `owner/name`. With a `revision` only a hub id is meant.
 * @throws MillraceError `config_invalid`
 */
export async function parseModelRef(
  model: string,
  revision: string | undefined,
  baseFolder: string,
): Promise<ModelRef> {
  if (revision === undefined) {
    if (model === 'bundled') return { kind: 'bundled' };
    const path = resolve(baseFolder, model);
    if (isAbsolute(model) || model.startsWith('.') || (await isFolder(path))) return { kind: 'folder', path };
  }
  if (!/^[\w.-]+\/[\w.-]+$/.test(model) || model.split('/').some((part) => /^\.+$/.test(part))) {
    throw new MillraceError('config_invalid', `"${model}" is no model that can be found`, {
      hint:
        revision === undefined
          ? `Write "bundled", the path of a folder (no folder ${resolve(baseFolder, model)} exists), or a hub id such as "owner/name".`
          : 'A revision belongs to a hub id such as "owner/name"; leave it out for a folder or the bundled model.',
    });
  }
  return { kind: 'hub', id: model, revision: revision ?? 'main' };
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
