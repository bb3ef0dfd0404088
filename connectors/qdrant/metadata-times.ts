import { filterTime } from '../../src/elements/filter/time.js';
import type { Json, Metadata } from '../../src/elements/metadata.js';

export type Times = { readonly [path: string]: readonly string[] };

/** No time is longer. */
const longest = 64;

/**
 * The times in the metadata by their fields, all in one form and in UTC: what a filter means by a time is less than what
 * Qdrant takes for one.
 */
export function metadataTimes(metadata: Metadata): Times {
  const times = new Map<string, string[]>();
  collect(metadata, [], times);
  return Object.fromEntries(times);
}

/** The path of a field's times within the payload of a chunk. */
export function timesPath(names: readonly string[]): string {
  return `times."${timesKey(names)}"`;
}

function timesKey(names: readonly string[]): string {
  return names
    .map((name) => name.replace(/[".%]/g, (char) => `%${char.charCodeAt(0).toString(16)}`))
    .join('.');
}

function collect(object: Metadata, above: readonly string[], times: Map<string, string[]>): void {
  for (const [name, value] of Object.entries(object)) {
    const path = [...above, name];
    const found = (Array.isArray(value) ? (value as readonly Json[]) : [value]).flatMap((one) =>
      typeof one === 'string' && one.length <= longest ? (filterTime(one) ?? []) : [],
    );
    if (found.length > 0) times.set(timesKey(path), found);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      collect(value as Metadata, path, times);
  }
}
