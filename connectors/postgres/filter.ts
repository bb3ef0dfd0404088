import type { Bounds, Condition, FieldPath } from '../../src/elements/filter/condition.js';
import { timePatterns } from '../../src/elements/filter/time.js';
import type { SqlValue } from './connection.js';

export interface FilterSql {
  /** An expression that is true where the condition holds, else false or null. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * A condition on the column `metadata`, with all that the user wrote as parameters.
 * @param first number of the first free parameter
 */
export function filterSql(condition: Condition, first: number): FilterSql {
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue) => `$${first + values.push(value) - 1}`;
  return { sql: compile(condition, parameter), values };
}

type Parameter = (value: SqlValue) => string;

function compile(condition: Condition, parameter: Parameter): string {
  switch (condition.kind) {
    case 'all':
      return joined(condition.of, ' and ', 'true', parameter);
    case 'any':
      return joined(condition.of, ' or ', 'false', parameter);
    case 'not':
      return `(${compile(condition.of, parameter)}) is not true`;
    case 'in': {
      const values = condition.values.map((value) => JSON.stringify(value));
      // In jsonb an array contains each of its elements, and a scalar contains itself.
      return `${field(condition.path, parameter)} @> any(${parameter(values)}::text[]::jsonb[])`;
    }
    case 'exists':
      return `${field(condition.path, parameter)} not in ('null', '[]')`;
    case 'numbers':
      return `jsonb_path_exists(${list(field(condition.path, parameter))},
        'strict $[*] ? (@.type() == "number"${numberTests(condition.bounds)})',
        ${parameter(JSON.stringify(condition.bounds))}::text::jsonb)`;
    case 'times':
      return `exists (
        select from (
          select ${elementTime} as time
          from jsonb_path_query(${list(field(condition.path, parameter))}, 'strict $[*] ? (@.type() == "string")') as element
        ) as times
        where ${timeTests(condition.bounds, parameter)})`;
    default:
      return condition satisfies never;
  }
}

function joined(of: readonly Condition[], by: string, none: string, parameter: Parameter): string {
  return of.length === 0 ? none : of.map((one) => `(${compile(one, parameter)})`).join(by);
}

/** `->` with a text finds names of objects alone, where `#>` would find places of lists too. */
function field(path: FieldPath, parameter: Parameter): string {
  return `(${['metadata', ...path.map((name) => `${parameter(name)}::text`)].join(' -> ')})`;
}

/** A value as a list. A path that is not strict would do so by itself, but look into lists of lists too. */
function list(value: string): string {
  return `case jsonb_typeof(${value}) when 'array' then ${value} else jsonb_build_array(${value}) end`;
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;
type BoundName = keyof typeof comparisons;

function named<Value>(bounds: Bounds<Value>): [BoundName, Value][] {
  return Object.entries(bounds) as [BoundName, Value][];
}

function numberTests(bounds: Bounds<number>): string {
  return named(bounds)
    .map(([name]) => ` && @ ${comparisons[name]} $${name}`)
    .join('');
}

function timeTests(bounds: Bounds<string>, parameter: Parameter): string {
  return named(bounds)
    .map(([name, bound]) => `time ${comparisons[name]} ${parameter(bound)}::timestamptz`)
    .join(' and ');
}

const text = "(element #>> '{}')";
/** Postgres would round to a microsecond. */
const cut = `regexp_replace(${text}, '(\\.\\d{6})\\d+', '\\1')`;

/** Null where the text is no time: a cast that fails would fail the whole search. */
const elementTime = `case
  when ${text} ~ '${timePatterns.day}' then (${text} || 'T00:00:00Z')::timestamptz
  when ${text} ~ '${timePatterns.local}' then (${cut} || 'Z')::timestamptz
  when ${text} ~ '${timePatterns.zoned}' then ${cut}::timestamptz
end`;
