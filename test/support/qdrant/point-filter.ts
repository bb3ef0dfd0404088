import { valuesAt, type Json } from './payload-path.js';
import type { ConditionBody, FilterBody } from './schemas.js';

/** Values by index. */
export type SparseVector = ReadonlyMap<number, number>;

export interface StoredPoint {
  readonly id: string | number;
  readonly vectors: ReadonlyMap<string, Float32Array | SparseVector>;
  readonly payload: { readonly [field: string]: Json };
}

/** Whether a point matches, as Qdrant judges it. */
export function matchesFilter(point: StoredPoint, filter: FilterBody): boolean {
  const holds = (condition: ConditionBody) => matchesCondition(point, condition);
  const { must = [], should = [], must_not = [] } = filter;
  return must.every(holds) && (should.length === 0 || should.some(holds)) && !must_not.some(holds);
}

function matchesCondition(point: StoredPoint, condition: ConditionBody): boolean {
  if ('has_id' in condition) return condition.has_id.includes(point.id);
  if ('has_vector' in condition) return point.vectors.has(condition.has_vector);
  if ('is_null' in condition)
    return valuesAt(point.payload as Json, condition.is_null.key).some(
      (value) => value === null || (Array.isArray(value) && value.includes(null)),
    );
  if ('is_empty' in condition)
    return valuesAt(point.payload as Json, condition.is_empty.key).every(
      (value) => value === null || (Array.isArray(value) && value.length === 0),
    );
  if ('match' in condition) {
    const { match } = condition;
    const wanted: readonly Json[] = 'any' in match ? match.any : [match.value];
    return elements(point, condition.key).some((value) => wanted.includes(value));
  }
  if ('range' in condition) {
    const { range } = condition;
    const numbers = Object.values(range).some((bound) => typeof bound === 'number');
    const bounds = Object.entries(range).map(([name, bound]) => [name, comparable(bound)] as const);
    return elements(point, condition.key).some((value) => {
      if (numbers ? typeof value !== 'number' : typeof value !== 'string') return false;
      const own = comparable(value as number | string);
      return own !== undefined && bounds.every(([name, bound]) => compare(own, name, bound!));
    });
  }
  return matchesFilter(point, condition);
}

/** The values of a field of the payload; a list stands for its elements. */
export function elements(point: StoredPoint, key: string): Json[] {
  return valuesAt(point.payload as Json, key).flatMap((value) => (Array.isArray(value) ? value : [value]));
}

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/;

/** Times of the one form that this double knows, in microseconds. */
function comparable(bound: number | string | undefined): number | bigint | undefined {
  if (typeof bound === 'number') return bound;
  const [, seconds, fraction = ''] = form.exec(bound ?? '') ?? [];
  return seconds === undefined
    ? undefined
    : BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

function compare(value: number | bigint, name: string, bound: number | bigint): boolean {
  if (name === 'gt') return value > bound;
  if (name === 'gte') return value >= bound;
  return name === 'lt' ? value < bound : value <= bound;
}
