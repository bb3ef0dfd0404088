import { createHash } from 'node:crypto';
import { canonicalJson } from '../elements/canonical-json.js';
import type { Json } from '../elements/metadata.js';
import type { ModelFolder } from './models/model-folder.js';

/**
 * Stands for all that decides what is loaded: two with equal keys load the same, wherever the files were found. A digest,
 * since settings may hold secrets.
 */
export function modelKey(handler: string, folder: ModelFolder | undefined, settings: unknown): string {
  const files = [...(folder?.files ?? [])].map(([path, { sha256 }]) => [path, sha256]).sort();
  const all = JSON.parse(JSON.stringify([handler, files, settings ?? null])) as Json;
  return createHash('sha256').update(canonicalJson(all)).digest('hex');
}
