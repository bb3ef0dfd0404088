import { parse as parseArray } from 'postgres-array';
import type { Json } from '../../../src/elements/metadata.js';
import { parseExactJson } from '../../../src/elements/exact-json.js';

/** What Postgres's catalog says of a type. */
export interface TypeRow {
  readonly oid: number;
  /** As SQL writes it: `character varying`. */
  readonly name: string;
  /** `d` for a domain. */
  readonly kind: string;
  /** Of a domain the type beneath, of an array its elements; else 0. */
  readonly inner: number;
  readonly delimiter: string;
}

/** How the values of a type become JSON. */
export interface ColumnType {
  readonly name: string;
  /** Types of one family give the same JSON for the same value: a change from one to another changes no document. */
  readonly family: string;
  /** @param text a value in Postgres's own form; NULL never comes here */
  read(text: string): Json;
}

/** @param innerType the type beneath, where there is one */
export function columnType(row: TypeRow, innerType: ColumnType | undefined): ColumnType {
  const { oid, name, kind, delimiter } = row;
  if (kind === 'd' && innerType !== undefined) return { ...innerType, name };
  if (innerType !== undefined && delimiter === ',')
    return {
      name,
      family: `${innerType.family}[]`,
      read: (text) => parseArray(text, (element) => innerType.read(element)),
    };
  const known = builtIn[oid];
  return { name, ...(known ?? { family: name, read: asText }) };
}

const asText = (text: string): Json => text;

/** A number where JavaScript holds it exactly, else its text. */
function readInteger(text: string): Json {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/** NaN and the infinities are no JSON numbers. */
function readFloat(text: string): Json {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

/** ISO 8601 for the years 1 to 9999, to the microsecond; what has no such form (`infinity`) stays as it is. */
function readTimestamp(text: string): Json {
  if (!/^\d{4}-\d\d-\d\d \d/.test(text) || text.endsWith('BC')) return text;
  return text.replace(' ', 'T').replace(/\+00$/, 'Z');
}

const text = { family: 'text', read: asText };
const integer = { family: 'integer', read: readInteger };
const float = { family: 'float', read: readFloat };
const json = { family: 'json', read: parseExactJson };

/** By the oids of src/include/catalog/pg_type.dat, which never change. Every other type keeps its text, `numeric` too. */
const builtIn: Readonly<Record<number, Omit<ColumnType, 'name'>>> = {
  16: { family: 'boolean', read: (value) => value === 't' },
  20: integer,
  21: integer,
  23: integer,
  25: text,
  114: json,
  700: float,
  701: float,
  1042: text,
  1043: text,
  1114: { family: 'timestamp', read: readTimestamp },
  1184: { family: 'timestamptz', read: readTimestamp },
  3802: json,
};
