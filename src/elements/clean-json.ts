import { MillraceError } from '../errors/millrace-error.js';
import type { Json } from './metadata.js';
import { cleanText } from './text.js';

/**
 * The same value; characters that no store can hold become U+FFFD in its keys and texts, and what has a JSON form of its
 * own (a Date) takes it.
 * @throws MillraceError `transform_failed` for what JSON cannot hold: functions written by others make these values
 */
export function cleanJson(value: Json): Json {
  return clean(value, []);
}

function clean(value: Json, above: readonly object[], path = ''): Json {
  if (typeof value === 'string') return cleanText(value).text;
  if (['bigint', 'function', 'symbol'].includes(typeof value)) throw refused(path, `a ${typeof value}`);
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) throw refused(path, 'an object that holds itself');
  const within = [...above, value];
  if (Array.isArray(value)) return value.map((inner: Json, at) => clean(inner, within, `${path}[${at}]`));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return clean(toJSON.call(value) as Json, within, path);
  if (!isPlain(value)) throw refused(path, `a ${value.constructor.name}`);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      cleanText(key).text,
      clean(inner, within, path === '' ? key : `${path}.${key}`),
    ]),
  );
}

/** A Map or another instance of a class would be stored as an empty object. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function refused(path: string, what: string): MillraceError {
  return new MillraceError(
    'transform_failed',
    `${path === '' ? 'The value' : path} is ${what}, which JSON cannot hold.`,
    { hint: 'Make it a text, a number, a list or a plain object before it is returned.' },
  );
}
