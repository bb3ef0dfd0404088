import type { Document, SourceElement } from '../../src/elements/document.js';
import { createDocument } from '../../src/elements/document.js';
import { fieldAt, setField, type JsonObject } from '../../src/elements/json-fields.js';
import type { Json } from '../../src/elements/metadata.js';
import { parseJsonObject, readId, readMetadata, readText } from '../../src/elements/read-json-document.js';
import { storable } from '../../src/elements/text.js';
import { versionOf, type Version } from '../../src/elements/version.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { EntryFields } from './config.js';
import type { EntryId } from './entry-id.js';
import type { EntryVersions } from './entry-versions.js';

/** An entry of a stream: its id, and names and values by turns. */
export interface Entry {
  readonly id: EntryId;
  readonly fields: readonly string[];
}

export interface DecodeOptions {
  readonly fields: EntryFields;
  readonly versions: EntryVersions;
  readonly maxItemBytes: number;
}

/**
 * The document that an entry holds, or its deletion. An entry that makes neither is `unreadable`: under the document's id
 * where it names one, else under its own, `entry-<id>`.
 */
export function decodeEntry(entry: Entry, options: DecodeOptions): SourceElement {
  return plainDocument(entry, options) ?? anyElement(entry, options);
}

/** The document of an entry that has nothing but id, text and metadata, as most have; undefined for any other entry. */
function plainDocument({ id, fields }: Entry, options: DecodeOptions): Document | undefined {
  const { fields: names, versions, maxItemBytes } = options;
  if (names.json !== undefined || names.version !== undefined || names.metadata !== 'rest') return undefined;
  if (mayExceed(fields, maxItemBytes)) return undefined;
  let documentId: string | undefined;
  let text: string | undefined;
  const metadata: { [key: string]: Json } = {};
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at]!;
    const value = fields[at + 1]!;
    if (name === names.op || name === '__proto__') return undefined;
    if (name === names.id) documentId = value;
    else if (name === names.text) text = value;
    else metadata[storable(name)] = storable(value);
  }
  if (documentId === undefined || documentId === '' || text === undefined) return undefined;
  const version = versions.at(id);
  return { kind: 'document', id: storable(documentId), text: storable(text), metadata, version };
}

function anyElement(entry: Entry, options: DecodeOptions): SourceElement {
  const { fields, versions, maxItemBytes } = options;
  const { epoch } = versions;
  const where = `Entry ${entry.id}`;
  const position = versions.at(entry.id);
  const unreadable = (error: MillraceError, id = `entry-${entry.id}`, version = position): SourceElement => ({
    kind: 'unreadable',
    id,
    version,
    error,
  });

  const flat = objectOf(entry.fields);
  const object = documentObject(flat, fields, where, maxItemBytes);
  if (object instanceof MillraceError) return unreadable(object);
  const named = readId(object, fields.id, where, 'fields.id');
  if (named instanceof MillraceError) return unreadable(named);
  const id = storable(named);
  const version = versionIn(object, fields, epoch, position, where);
  if (version instanceof MillraceError) return unreadable(version, id);
  if (mayExceed(entry.fields, maxItemBytes)) {
    const size = sizeOf(entry.fields);
    if (size > maxItemBytes) return unreadable(tooLarge(where, size, maxItemBytes), id, version);
  }

  const op = fieldAt(object, fields.op) ?? flat[fields.op];
  if (op === 'delete') return { kind: 'deletion', id, version };
  if (op !== undefined && op !== 'upsert')
    return unreadable(
      new MillraceError(
        'item_malformed',
        `${where} has ${JSON.stringify(op)} in \`${fields.op}\`: expected "upsert" or "delete".`,
        { hint: '`fields.op` names another field, when this one is metadata.' },
      ),
      id,
      version,
    );
  const text = readText(object, fields.text, where, 'fields.text');
  if (text instanceof MillraceError) return unreadable(text, id, version);
  const used = [fields.op, ...(fields.version === undefined ? [] : [fields.version])];
  return createDocument({ id, text, metadata: readMetadata(object, fields, used), version });
}

/** The same element, failed before it was read; what it holds is kept for a replay. */
export function failUnread(element: SourceElement, error: MillraceError): SourceElement {
  const { id, version } = element;
  const content: Pick<Document, 'text' | 'metadata'> | undefined =
    element.kind === 'document' ? { text: element.text, metadata: element.metadata } : undefined;
  return { kind: 'unreadable', id, version, error, ...(content !== undefined && { content }) };
}

function objectOf(fields: readonly string[]): JsonObject {
  const object: { [key: string]: Json } = {};
  for (let at = 0; at + 1 < fields.length; at += 2) setField(object, fields[at]!, fields[at + 1]!);
  return object;
}

function documentObject(
  flat: JsonObject,
  { json }: EntryFields,
  where: string,
  maxItemBytes: number,
): JsonObject | MillraceError {
  if (json === undefined) return flat;
  const text = flat[json];
  if (typeof text !== 'string')
    return new MillraceError('item_malformed', `${where} has no field \`${json}\`.`, {
      hint: '`fields.json` names the field that holds the JSON document.',
    });
  const size = Buffer.byteLength(text);
  if (size > maxItemBytes) return tooLarge(where, size, maxItemBytes);
  return parseJsonObject(text, `\`${json}\` of ${where.toLowerCase()}`, 'It must be one whole JSON object.');
}

function versionIn(
  object: JsonObject,
  { version: field }: EntryFields,
  epoch: number,
  position: Version,
  where: string,
): Version | MillraceError {
  if (field === undefined) return position;
  const given = fieldAt(object, field);
  const digits = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  if (typeof digits === 'string' && /^\d{1,19}$/.test(digits)) return versionOf(epoch, BigInt(digits));
  return new MillraceError(
    'item_malformed',
    `${where} has ${given === undefined ? 'no' : 'no usable'} version in \`${field}\`.`,
    { hint: 'A version is a whole number from 0, of at most 19 digits.' },
  );
}

/** No character takes more than three bytes a code unit: few entries need to be measured. */
function mayExceed(fields: readonly string[], bytes: number): boolean {
  let units = 0;
  for (const value of fields) units += value.length;
  return units * 3 > bytes;
}

function sizeOf(fields: readonly string[]): number {
  return fields.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
}

function tooLarge(where: string, size: number, limit: number): MillraceError {
  return new MillraceError('item_too_large', `${where} has ${size} bytes; at most ${limit} are allowed.`, {
    hint: 'Raise limits.maxItemBytes, or split the document.',
  });
}
