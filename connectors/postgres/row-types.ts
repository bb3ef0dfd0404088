import pg from 'pg';
import { parseExactJson } from '../../src/elements/exact-json.js';
import type { Json } from '../../src/elements/metadata.js';

const { builtins, getTypeParser } = pg.types;

/**
 * How columns of a looked-up row become JSON. Exactly: a number that JavaScript cannot hold stays a text. Dates and times
 * keep the form that Postgres writes, so that they mean the same in every time zone.
 */
const parsers: ReadonlyMap<number, (text: string) => Json> = new Map<number, (text: string) => Json>([
  [builtins.BOOL, (text) => text === 't'],
  [builtins.INT2, Number],
  [builtins.INT4, Number],
  [builtins.OID, Number],
  [builtins.INT8, exactNumber],
  [builtins.NUMERIC, exactNumber],
  [builtins.FLOAT4, finiteNumber],
  [builtins.FLOAT8, finiteNumber],
  [builtins.JSON, parseExactJson],
  [builtins.JSONB, parseExactJson],
]);

/** Arrays of texts and whole numbers, which the driver takes apart; those of other types stay as Postgres writes them. */
const arrays = new Set([1000, 1005, 1007, 1009, 1015, 3807]);

export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (arrays.has(oid)) return getTypeParser(oid, format as 'text');
    return parsers.get(oid) ?? ((text: string) => text);
  }) as typeof getTypeParser,
};

function exactNumber(text: string): Json {
  const number = Number(text);
  return String(number) === text ? number : text;
}

/** NaN and the infinities have no number in JSON. */
function finiteNumber(text: string): Json {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}
