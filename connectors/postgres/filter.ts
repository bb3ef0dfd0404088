import type { Bounds, Condition, FieldCondition } from '../../src/elements/filter/condition.js';
import type { SqlValue } from './connection.js';
import { fieldSql, type FoundColumn } from './field-column.js';
import { columnTest } from './filter-column.js';
import { quoteName } from './names.js';
import { timeSql } from './time-sql.js';

export interface FilterSql {
  /** An expression that is true where the condition holds, else false or null. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * A condition on the metadata, with all that the user wrote as parameters: on a column where the field has one, else on JSON.
 * @param first number of the first free parameter
 */
export function filterSql(condition: Condition, first: number, columns: readonly FoundColumn[]): FilterSql {
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue) => `$${first + values.push(value) - 1}`;
  return { sql: compile(condition, { parameter, columns }), values };
}

type Parameter = (value: SqlValue) => string;

interface Compiling {
  readonly parameter: Parameter;
  readonly columns: readonly FoundColumn[];
}

function compile(condition: Condition, how: Compiling): string {
  switch (condition.kind) {
    case 'all':
      return joined(condition.of, ' and ', 'true', how);
    case 'any':
      return joined(condition.of, ' or ', 'false', how);
    case 'not':
      return `(${compile(condition.of, how)}) is not true`;
    case 'in':
    case 'exists':
    case 'numbers':
    case 'times':
      return fieldTest(condition, how);
    default:
      return condition satisfies never;
  }
}

/** A column that is empty says nothing unless all that its field holds is in it. */
function fieldTest(condition: FieldCondition, { parameter, columns }: Compiling): string {
  const column = columns.find(({ path }) => JSON.stringify(path) === JSON.stringify(condition.path));
  const test = column && columnTest(column, condition, parameter);
  if (test === undefined) return jsonTest(condition, parameter);
  if (column!.filled === 'whole') return test;
  return `(${test}) or (${quoteName(column!.name)} is null and ${jsonTest(condition, parameter)})`;
}

function jsonTest(condition: FieldCondition, parameter: Parameter): string {
  switch (condition.kind) {
    case 'in': {
      const values = condition.values.map((value) => JSON.stringify(value));
      // In jsonb an array contains each of its elements, and a scalar contains itself.
      return `${fieldSql(condition.path, parameter)} @> any(${parameter(values)}::text[]::jsonb[])`;
    }
    case 'exists':
      return `${fieldSql(condition.path, parameter)} not in ('null', '[]')`;
    case 'numbers':
      return `jsonb_path_exists(${list(fieldSql(condition.path, parameter))},
        'strict $[*] ? (@.type() == "number"${numberTests(condition.bounds)})',
        ${parameter(JSON.stringify(condition.bounds))}::text::jsonb)`;
    case 'times':
      return `exists (
        select from (
          select ${timeSql("(element #>> '{}')")} as time
          from jsonb_path_query(${list(fieldSql(condition.path, parameter))}, 'strict $[*] ? (@.type() == "string")') as element
        ) as times
        where ${timeTests(condition.bounds, parameter)})`;
    default:
      return condition satisfies never;
  }
}

function joined(of: readonly Condition[], by: string, none: string, how: Compiling): string {
  return of.length === 0 ? none : of.map((one) => `(${compile(one, how)})`).join(by);
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
