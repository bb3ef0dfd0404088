import { MillraceError } from '../../errors/millrace-error.js';
import { cleanText } from '../text.js';
import type { Bounds, Condition, FieldPath } from './condition.js';
import type { Filter, FilterValue } from './filter.js';
import { filterTime } from './time.js';

const boundNames = ['$gt', '$gte', '$lt', '$lte'] as const;
const testNames = ['$in', '$not', '$exists', ...boundNames];
/** A statement has room for so many fields, and people for far fewer. */
const mostTests = 1000;
const deepest = 32;

/**
 * What a filter means, for stores to compile.
 * @param filter anything: what comes from a command line or over a wire is checked here
 * @throws MillraceError `config_invalid` that says where the filter is wrong and what is expected there
 */
export function readFilter(filter: Filter | undefined): Condition {
  const count = { tests: 0 };
  return filter === undefined ? { kind: 'all', of: [] } : readAll(filter, 'filter', 0, count);
}

interface Count {
  tests: number;
}

function readAll(filter: unknown, where: string, depth: number, count: Count): Condition {
  if (depth > deepest) throw wrong(where, `nested deeper than ${deepest}`);
  if (!isObject(filter))
    throw wrong(where, `expected conditions such as {"lang": "en"}, not ${shown(filter)}`);
  const of = Object.entries(filter).map(([key, value]): Condition => {
    if ((count.tests += 1) > mostTests) throw wrong(where, `more than ${mostTests} conditions`);
    const at = `${where}.${key}`;
    switch (key) {
      case '$and':
        return { kind: 'all', of: readEach(value, at, depth, count) };
      case '$or':
        return { kind: 'any', of: readEach(value, at, depth, count) };
      case '$not':
        return { kind: 'not', of: readAll(value, at, depth + 1, count) };
      default:
        if (key.startsWith('$')) throw wrong(at, 'unknown here; expected a field, "$and", "$or" or "$not"');
        return readTest(readPath(key, at), value, at, depth);
    }
  });
  return of.length === 1 ? of[0]! : { kind: 'all', of };
}

function readEach(filters: unknown, where: string, depth: number, count: Count): Condition[] {
  if (!Array.isArray(filters)) throw wrong(where, `expected a list of filters, not ${shown(filters)}`);
  return filters.map((filter, at) => readAll(filter, `${where}[${at}]`, depth + 1, count));
}

function readPath(key: string, where: string): FieldPath {
  const path = key.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  if (path.includes('')) throw wrong(where, 'a name is empty');
  checkText(key, where);
  if (path.length > deepest) throw wrong(where, `reaches deeper than ${deepest} objects`);
  return path;
}

function readTest(path: FieldPath, test: unknown, where: string, depth: number): Condition {
  if (isValue(test)) return { kind: 'in', path, values: [checkText(test, where)] };
  if (Array.isArray(test)) return { kind: 'in', path, values: readValues(test, where) };
  if (!isObject(test) || Object.keys(test).length === 0)
    throw wrong(
      where,
      `expected a value, a list of values, or tests such as {"$gte": 2020}, not ${shown(test)}`,
    );
  const unknown = Object.keys(test).find((name) => !testNames.includes(name));
  if (unknown !== undefined)
    throw wrong(`${where}.${unknown}`, `unknown test; known are ${testNames.join(', ')}`);
  const of: Condition[] = [];
  if ('$in' in test) of.push({ kind: 'in', path, values: readValues(test['$in'], `${where}.$in`) });
  if ('$not' in test) {
    if (depth > deepest) throw wrong(where, `nested deeper than ${deepest}`);
    of.push({ kind: 'not', of: readTest(path, test['$not'], `${where}.$not`, depth + 1) });
  }
  if ('$exists' in test) {
    const there = test['$exists'];
    if (typeof there !== 'boolean')
      throw wrong(`${where}.$exists`, `expected true or false, not ${shown(there)}`);
    of.push(there ? { kind: 'exists', path } : { kind: 'not', of: { kind: 'exists', path } });
  }
  if (boundNames.some((name) => name in test)) of.push(readRange(path, test, where));
  return of.length === 1 ? of[0]! : { kind: 'all', of };
}

function readRange(path: FieldPath, test: Readonly<Record<string, unknown>>, where: string): Condition {
  const bounds = boundNames.flatMap((name) => {
    if (!(name in test)) return [];
    const bound = readBound(test[name], `${where}.${name}`);
    return [[name.slice(1), bound] as const];
  });
  const kinds = new Set(bounds.map(([, bound]) => typeof bound));
  if (kinds.size > 1) throw wrong(where, 'its bounds are a number and a time; expected two of one kind');
  const given = Object.fromEntries(bounds);
  return kinds.has('number')
    ? { kind: 'numbers', path, bounds: given as Bounds<number> }
    : { kind: 'times', path, bounds: given as Bounds<string> };
}

function readBound(bound: unknown, where: string): number | string {
  if (typeof bound === 'number' && Number.isFinite(bound)) return bound;
  const time = typeof bound === 'string' ? filterTime(bound) : undefined;
  if (time !== undefined) return time;
  throw wrong(
    where,
    `expected a number, or a time such as "2024-05-01" or "2024-05-01T12:00:00Z", not ${shown(bound)}`,
  );
}

function readValues(values: unknown, where: string): FilterValue[] {
  if (!Array.isArray(values)) throw wrong(where, `expected a list of values, not ${shown(values)}`);
  return values.map((value: unknown, at) => {
    if (isValue(value)) return checkText(value, `${where}[${at}]`);
    throw wrong(
      `${where}[${at}]`,
      `expected a text, a finite number, true, false or null, not ${shown(value)}`,
    );
  });
}

function isValue(value: unknown): value is FilterValue {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}

/** What no document holds, since reading replaces it, and stores take no question about. */
function checkText(value: FilterValue, where: string): FilterValue {
  if (typeof value === 'string' && cleanText(value).replaced > 0)
    throw wrong(where, `expected whole characters, not NUL or half of a surrogate pair: ${shown(value)}`);
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function wrong(where: string, what: string): MillraceError {
  return new MillraceError('config_invalid', `${where}: ${what}.`, {
    hint: 'A filter is JSON: {"lang": ["en", "de"], "year": {"$gte": 2020}, "$not": {"draft": true}}.',
  });
}
