import type { FieldCondition } from '../../src/elements/filter/condition.js';
import type { SqlValue } from './connection.js';
import type { FoundColumn } from './field-column.js';
import { quoteName } from './names.js';

/**
 * A condition on a field as one on its column; undefined where the column cannot tell.
 * @param parameter takes a value and gives its place in the statement
 */
export function columnTest(
  { name, type, filled }: FoundColumn,
  condition: FieldCondition,
  parameter: (value: SqlValue) => string,
): string | undefined {
  const column = quoteName(name);
  switch (condition.kind) {
    case 'in': {
      const { values } = condition;
      if (type === 'text' && areAll(values, 'string')) return `${column} = any(${parameter(values)}::text[])`;
      if (type === 'text[]' && areAll(values, 'string')) return `${column} && ${parameter(values)}::text[]`;
      if (type === 'boolean' && areAll(values, 'boolean'))
        return `${column} = any(${parameter(values)}::bool[])`;
      if (type === 'numeric' && areAll(values, 'number'))
        return `${column} = any(${parameter(values.map(String))}::text[]::numeric[])`;
      return undefined;
    }
    case 'exists':
      if (filled !== 'whole') return undefined;
      return type === 'text[]' ? `cardinality(${column}) > 0` : `${column} is not null`;
    case 'numbers':
      return type === 'numeric'
        ? within(column, condition.bounds, (bound) => `${parameter(String(bound))}::text::numeric`)
        : undefined;
    case 'times':
      return type === 'timestamptz'
        ? within(column, condition.bounds, (bound) => `${parameter(bound)}::timestamptz`)
        : undefined;
    default:
      return condition satisfies never;
  }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function within<Value>(
  column: string,
  bounds: Readonly<Partial<Record<keyof typeof comparisons, Value>>>,
  place: (bound: Value) => string,
): string {
  return (Object.entries(bounds) as [keyof typeof comparisons, Value][])
    .map(([name, bound]) => `${column} ${comparisons[name]} ${place(bound)}`)
    .join(' and ');
}

function areAll<Name extends keyof Types>(
  values: readonly unknown[],
  type: Name,
): values is readonly Types[Name][] {
  return values.length > 0 && values.every((value) => typeof value === type);
}

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}
