import { MillraceError } from '../errors/millrace-error.js';
import {
  fieldAt,
  isJsonObject,
  isNestedWithin,
  pickFields,
  setField,
  type JsonObject,
} from './json-fields.js';
import type { Json, Metadata } from './metadata.js';

/** Which fields of a JSON object make a document. */
export interface DocumentFields {
  readonly id: string;
  /** Several are joined by a blank line. */
  readonly text: string | readonly string[];
  /** `rest`: all but those of id and text, and those that the caller uses himself. */
  readonly metadata: 'rest' | readonly string[];
}

const maxDepth = 64;

/** @param where names the place in messages: `Line 7 of a.jsonl` @returns `item_malformed` for anything but an object */
export function parseJsonObject(json: string, where: string, hint: string): JsonObject | MillraceError {
  let value: Json;
  try {
    value = JSON.parse(json) as Json;
  } catch (cause) {
    return new MillraceError('item_malformed', `${where} is not valid JSON.`, { cause, hint });
  }
  if (!isJsonObject(value)) return new MillraceError('item_malformed', `${where} is not a JSON object.`);
  if (isNestedWithin(value, maxDepth)) return value;
  return new MillraceError('item_malformed', `${where} is nested more than ${maxDepth} deep.`);
}

/** @param option what names the field in the configuration: `jsonl.id` */
export function readId(
  object: JsonObject,
  field: string,
  where: string,
  option: string,
): string | MillraceError {
  const id = fieldAt(object, field);
  if (typeof id === 'string' && id !== '') return id;
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  const found =
    id === undefined ? 'no field' : typeof id === 'number' ? 'an inexact number in' : 'no usable id in';
  return new MillraceError('item_malformed', `${where} has ${found} \`${field}\`.`, {
    hint: `An id is a string that is not empty, or a whole number up to 2^53 - 1; \`${option}\` names its field.`,
  });
}

export function readText(
  object: JsonObject,
  field: string | readonly string[],
  where: string,
  option: string,
): string | MillraceError {
  const only = typeof field === 'string' ? fieldAt(object, field) : undefined;
  if (typeof only === 'string') return only;
  const names = typeof field === 'string' ? [field] : field;
  const found = names
    .map((name) => fieldAt(object, name))
    .filter((part) => part !== undefined && part !== null);
  const texts = found.filter((part): part is string => typeof part === 'string');
  if (texts.length > 0 && texts.length === found.length) return texts.join('\n\n');
  const fault = found.length > 0 ? 'a text that is no string in' : 'no text in';
  return new MillraceError('item_malformed', `${where} has ${fault} \`${names.join('`, `')}\`.`, {
    hint: `\`${option}\` names the field, or the fields, that hold the text.`,
  });
}

/** @param used names of further fields that are no metadata */
export function readMetadata(
  object: JsonObject,
  { id, text, metadata }: DocumentFields,
  used: readonly string[] = [],
): Metadata {
  if (metadata !== 'rest') return pickFields(object, metadata);
  const isText =
    typeof text === 'string' ? (name: string) => name === text : (name: string) => text.includes(name);
  const rest: { [key: string]: Json } = {};
  for (const name of Object.keys(object))
    if (name !== id && !isText(name) && !used.includes(name)) setField(rest, name, object[name]!);
  return rest;
}
