import { readField } from '../../elements/field-path.js';
import type { Document } from '../../elements/document.js';
import { MillraceError } from '../../errors/millrace-error.js';

/**
 * What a document is looked up by: its id (`id`), or the value at a place in its metadata (`author`, `metadata.author.id`).
 * @returns undefined where there is nothing at that place
 * @throws MillraceError `transform_failed` for a list or an object
 */
export function documentKey(document: Document, path: string): string | undefined {
  if (path === 'id') return document.id;
  const value = readField(document, path.startsWith('metadata.') ? path : `metadata.${path}`);
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'object') return String(value);
  throw new MillraceError(
    'transform_failed',
    `${path} is ${Array.isArray(value) ? 'a list' : 'an object'}: a key is a text, a number or a boolean.`,
    { hint: 'Name another place by `key`, or bring the value into form with an enrich function before.' },
  );
}
