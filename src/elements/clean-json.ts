import type { Json } from './metadata.js';
import { cleanText } from './text.js';

/** The same value; characters that no store can hold become U+FFFD in its keys and texts. */
export function cleanJson(value: Json): Json {
  if (typeof value === 'string') return cleanText(value).text;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanJson);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [cleanText(key).text, cleanJson(inner)]),
  );
}
