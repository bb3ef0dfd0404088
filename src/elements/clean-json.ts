import { MillraceError } from '../errors/millrace-error.js';
import { setField } from './json-fields.js';
import type { Json } from './metadata.js';
import { isPlainObject } from './plain-object.js';
import { storable } from './text.js';

/**
 * The same value; characters that no store can hold become U+FFFD in its keys and texts, and what has a JSON form of its
 * own (a Date) takes it.
 * @throws MillraceError `transform_failed` for what JSON cannot hold: functions written by others make these values
 */
export function cleanJson(value: Json): Json {
  return clean(value, undefined);
}

/** Where a value is: below the value of `above`, at a key or an index. */
interface Place {
  readonly value: object;
  readonly above: Place | undefined;
  readonly key: string | number | undefined;
}

function clean(value: Json, above: Place | undefined, key?: string | number): Json {
  const type = typeof value;
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'object' && value !== null) return cleanObject(value, { value, above, key });
  if (noJson.has(type)) throw refused(pathOf(above, key), `a ${type}`);
  // JSON.stringify makes null of it in silence.
  if (type === 'number' && !Number.isFinite(value)) throw refused(pathOf(above, key), String(value));
  return value;
}

const noJson: ReadonlySet<string> = new Set(['bigint', 'function', 'symbol']);

function cleanObject(value: Exclude<Json, string | number | boolean | null>, place: Place): Json {
  const { above, key } = place;
  for (let outer = above; outer !== undefined; outer = outer.above)
    if (outer.value === value) throw refused(pathOf(above, key), 'an object that holds itself');
  if (Array.isArray(value)) return value.map((inner: Json, at) => clean(inner, place, at));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return clean(toJSON.call(value) as Json, place);
  // A Map or another instance of a class would be stored as an empty object.
  if (!isPlainObject(value)) throw refused(pathOf(above, key), `a ${value.constructor.name}`);
  const made: Record<string, Json> = {};
  for (const [name, inner] of Object.entries(value))
    setField(made, storable(name), clean(inner, place, name));
  return made;
}

function pathOf(above: Place | undefined, key: string | number | undefined): string {
  if (above === undefined) return '';
  const outer = pathOf(above.above, above.key);
  if (key === undefined) return outer;
  if (typeof key === 'number') return `${outer}[${key}]`;
  return outer === '' ? key : `${outer}.${key}`;
}

function refused(path: string, what: string): MillraceError {
  return new MillraceError(
    'transform_failed',
    `${path === '' ? 'The value' : path} is ${what}, which JSON cannot hold.`,
    { hint: 'Make it a text, a number, a list or a plain object before it is returned.' },
  );
}
