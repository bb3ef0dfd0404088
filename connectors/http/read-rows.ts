import type { LookupRow } from '../../src/contracts/lookup.js';
import { fieldAt, isJsonObject } from '../../src/elements/json-fields.js';
import type { Json } from '../../src/elements/metadata.js';
import { MillraceError } from '../../src/errors/millrace-error.js';

export interface RowPlace {
  readonly rows?: string | undefined;
  readonly keyField: string;
}

/** The one row of an answer; undefined where it is null. @throws MillraceError `transform_failed` for anything else */
export function readRow(answer: Json, { rows }: RowPlace): LookupRow | undefined {
  const row = at(answer, rows);
  if (row === undefined || row === null) return undefined;
  if (isJsonObject(row)) return row;
  throw unfit('no JSON object with a row', rows);
}

/** The rows of an answer for many keys, in their order. @throws MillraceError `transform_failed` */
export function readRows(
  answer: Json,
  keys: readonly string[],
  place: RowPlace,
): readonly (LookupRow | undefined)[] {
  const found = at(answer, place.rows);
  if (isJsonObject(found))
    return keys.map((key) => rowOf(Object.hasOwn(found, key) ? found[key]! : null, place));
  if (!Array.isArray(found)) throw unfit('neither a list of rows nor an object by key', place.rows);
  const asked = new Set(keys);
  const byKey = new Map<string, LookupRow>();
  for (const row of found as readonly Json[]) {
    const held = isJsonObject(row) ? fieldAt(row, place.keyField) : undefined;
    const key = typeof held === 'string' || typeof held === 'number' ? String(held) : undefined;
    if (key === undefined) throw unfit(`a row without a key in ${place.keyField}`, place.rows);
    if (!asked.has(key)) throw unfit(`a row for ${JSON.stringify(key)}, which was not asked for`, place.rows);
    if (byKey.has(key)) throw unfit(`two rows for ${JSON.stringify(key)}`, place.rows);
    byKey.set(key, row as LookupRow);
  }
  return keys.map((key) => byKey.get(key));
}

function rowOf(row: Json, { rows }: RowPlace): LookupRow | undefined {
  if (row === null) return undefined;
  if (isJsonObject(row)) return row;
  throw unfit('a row that is no JSON object', rows);
}

function at(answer: Json, path: string | undefined): Json | undefined {
  if (path === undefined) return answer;
  return isJsonObject(answer) ? fieldAt(answer, path) : undefined;
}

function unfit(what: string, rows: string | undefined): MillraceError {
  return new MillraceError(
    'transform_failed',
    `The answer has ${what}${rows === undefined ? '' : ` at ${rows}`}.`,
    {
      hint: '`http.rows` says where in the answer the rows are, `http.keyField` which field of a row is its key.',
    },
  );
}
