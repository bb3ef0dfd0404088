import type { Json } from '../elements/metadata.js';

/** Where two JSON values differ, one line a place: `chunk.markdown.maxTokens: 200 -> 256`. */
export function differences(before: Json | undefined, after: Json | undefined, path = ''): string[] {
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => differences(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  const [from, to] = [JSON.stringify(before) ?? 'not set', JSON.stringify(after) ?? 'not set'];
  return from === to ? [] : [`${path}: ${from} -> ${to}`];
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
