import type { Json, Metadata } from '../../src/elements/metadata.js';

/** A path of Qdrant can quote every name but one with a quote in it: that is written `%22`, and so `%` is `%25`. */
export function escapeKeys(metadata: Metadata): Metadata {
  return mapKeys(metadata, /["%]/, escapeName) as Metadata;
}

export function unescapeKeys(metadata: Metadata): Metadata {
  return mapKeys(metadata, /%/, (name) =>
    name.replace(/%2[25]/g, (code) => (code === '%22' ? '"' : '%')),
  ) as Metadata;
}

/** The path of a metadata field within the payload of a chunk. */
export function metadataPath(names: readonly string[]): string {
  return ['metadata', ...names.map((name) => `"${escapeName(name)}"`)].join('.');
}

function escapeName(name: string): string {
  return name.replace(/["%]/g, (char) => (char === '"' ? '%22' : '%25'));
}

/** The value itself where no name is concerned. */
function mapKeys(value: Json, concerned: RegExp, rename: (name: string) => string): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const mapped = value.map((inner: Json) => mapKeys(inner, concerned, rename));
    return mapped.every((inner, at) => inner === value[at]) ? value : mapped;
  }
  const entries = Object.entries(value);
  const mapped = entries.map(
    ([name, inner]) =>
      [concerned.test(name) ? rename(name) : name, mapKeys(inner as Json, concerned, rename)] as const,
  );
  return mapped.every(([name, inner], at) => name === entries[at]![0] && inner === entries[at]![1])
    ? value
    : Object.fromEntries(mapped);
}
