import type { Json, Metadata } from './metadata.js';

/** Where a step reads or writes: `text`, or a place in the metadata (`metadata.author.name`). */
export type FieldPath = string;

export const fieldPathPattern = /^(text|metadata(\.[^.]+)+)$/;

/** What a document or a chunk has at a path; undefined where there is nothing. */
export function readField(
  { text, metadata }: { readonly text: string; readonly metadata: Metadata },
  path: FieldPath,
): Json | undefined {
  if (path === 'text') return text;
  return metadataKeys(path).reduce<Json | undefined>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    metadata,
  );
}

/** Metadata with a value at a path; what lay in its way (a text where an object is needed) is replaced. */
export function withField(metadata: Metadata, path: FieldPath, value: Json): Metadata {
  return put(metadata, metadataKeys(path), value) as Metadata;
}

function put(into: Json | undefined, [key, ...deeper]: readonly string[], value: Json): Json {
  if (key === undefined) return value;
  const before = isObject(into) ? into : {};
  const inner = Object.hasOwn(before, key) ? before[key] : undefined;
  return Object.fromEntries([...Object.entries(before), [key, put(inner, deeper, value)]]);
}

function metadataKeys(path: FieldPath): readonly string[] {
  return path.split('.').slice(1);
}

function isObject(value: Json | undefined): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
