import { createHash } from 'node:crypto';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { parseJsonObject, readId, readMetadata, readText } from '../../src/elements/read-json-document.js';
import { storable } from '../../src/elements/text.js';
import type { JsonLinesFields } from './config.js';
import { decodeText } from './decode-text.js';
import { tooLarge } from './file-errors.js';
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
  const object = parseJsonObject(json, where, 'Each line must be one whole JSON object.');
  if (object instanceof MillraceError) return unnamed(path, line, object);
  const key = readId(object, fields.id, where, 'jsonl.id');
  if (key instanceof MillraceError) return unnamed(path, line, key);
  const id = storable(`${path}/${key}`);
  const text = readText(object, fields.text, where, 'jsonl.text');
  if (text instanceof MillraceError) return { kind: 'malformed', id, named: true, error: text };
  const metadata = { path, format: 'json-lines', ...readMetadata(object, fields) };
  return { kind: 'document', id, text, metadata };
}

function unnamed(path: string, line: Line, error: MillraceError): ParsedLine {
  const digest = line.digest ?? createHash('sha256').update(line.bytes!).digest('hex');
  return { kind: 'malformed', id: `${path}/line-${digest.slice(0, 16)}`, named: false, error };
}
