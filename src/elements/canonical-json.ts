import type { Json } from './metadata.js';

/** JSON with sorted keys and no blanks: equal values give equal strings. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const inner = (value as Record<string, Json | undefined>)[key];
    if (inner !== undefined)
      text += `${text === '{' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(inner)}`;
  }
  return `${text}}`;
}
