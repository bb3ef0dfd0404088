import { createHash } from 'node:crypto';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Json, Metadata } from '../../src/elements/metadata.js';
import { cleanText } from '../../src/elements/text.js';
import type { JsonLinesFields } from './config.js';
import { decodeText } from './decode-text.js';
import { tooLarge } from './file-errors.js';
import { fieldAt, isJsonObject, isNestedWithin, pickFields, type JsonObject } from './json-fields.js';
import type { Line } from './read-lines.js';

export type ParsedLine =
  | { readonly kind: 'document'; readonly id: string; readonly text: string; readonly metadata: Metadata }
  /** `named`: the id is that of the document; else it stands for the line, and any document might be meant. */
  | {
      readonly kind: 'malformed';
      readonly id: string;
      readonly named: boolean;
      readonly error: MillraceError;
    }
  | { readonly kind: 'blank' };

export interface LineReading {
  readonly path: string;
  readonly maxBytes: number;
  readonly fields: JsonLinesFields;
}

const maxDepth = 64;
const blank: ParsedLine = { kind: 'blank' };

/**
 * Reads one line as a document. Its id is `<path>/<id>`; that of a line without a readable id is
 * `<path>/line-<first 16 digits of the line's SHA-256>`, which stays the same when other lines come or go.
 */
export function parseLine(line: Line, { path, maxBytes, fields }: LineReading): ParsedLine {
  const where = `Line ${line.number} of ${path}`;
  if (line.bytes === undefined) return unnamed(path, line, tooLarge(where, maxBytes));
  const json = decodeText(line.bytes, where);
  if (json instanceof MillraceError) return unnamed(path, line, json);
  if (json.trim() === '') return blank;
  const object = parseObject(json, where);
  if (object instanceof MillraceError) return unnamed(path, line, object);
  const key = idOf(object, fields.id, where);
  if (key instanceof MillraceError) return unnamed(path, line, key);
  const id = cleanText(`${path}/${key}`).text;
  const text = textOf(object, fields.text, where);
  if (text instanceof MillraceError) return { kind: 'malformed', id, named: true, error: text };
  const metadata = { path, format: 'json-lines', ...metadataOf(object, fields) };
  return { kind: 'document', id, text, metadata };
}

function unnamed(path: string, line: Line, error: MillraceError): ParsedLine {
  const digest = line.digest ?? createHash('sha256').update(line.bytes!).digest('hex');
  return { kind: 'malformed', id: `${path}/line-${digest.slice(0, 16)}`, named: false, error };
}

function parseObject(json: string, where: string): JsonObject | MillraceError {
  let value: Json;
  try {
    value = JSON.parse(json) as Json;
  } catch (cause) {
    return new MillraceError('item_malformed', `${where} is not valid JSON.`, {
      cause,
      hint: 'Each line must be one whole JSON object.',
    });
  }
  if (!isJsonObject(value)) return new MillraceError('item_malformed', `${where} is not a JSON object.`);
  if (isNestedWithin(value, maxDepth)) return value;
  return new MillraceError('item_malformed', `${where} is nested more than ${maxDepth} deep.`);
}

function idOf(object: JsonObject, field: string, where: string): string | MillraceError {
  const id = fieldAt(object, field);
  if (typeof id === 'string' && id !== '') return id;
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  const found =
    id === undefined ? 'no field' : typeof id === 'number' ? 'an inexact number in' : 'no usable id in';
  return new MillraceError('item_malformed', `${where} has ${found} \`${field}\`.`, {
    hint: 'An id is a string that is not empty, or a whole number up to 2^53 - 1; `jsonl.id` names its field.',
  });
}

function textOf(
  object: JsonObject,
  field: string | readonly string[],
  where: string,
): string | MillraceError {
  const names = typeof field === 'string' ? [field] : field;
  const found = names
    .map((name) => fieldAt(object, name))
    .filter((part) => part !== undefined && part !== null);
  const texts = found.filter((part): part is string => typeof part === 'string');
  if (texts.length > 0 && texts.length === found.length) return texts.join('\n\n');
  const fault = found.length > 0 ? 'a text that is no string in' : 'no text in';
  return new MillraceError('item_malformed', `${where} has ${fault} \`${names.join('`, `')}\`.`, {
    hint: '`jsonl.text` names the field, or the fields, that hold the text.',
  });
}

function metadataOf(object: JsonObject, { id, text, metadata }: JsonLinesFields): Metadata {
  if (metadata !== 'rest') return pickFields(object, metadata);
  const used = new Set([id, text].flat());
  return Object.fromEntries(Object.entries(object).filter(([name]) => !used.has(name)));
}
