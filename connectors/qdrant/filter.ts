import type { Condition } from '../../src/elements/filter/condition.js';
import type { FilterValue } from '../../src/elements/filter/filter.js';
import { metadataPath } from './metadata-keys.js';
import { timesPath } from './metadata-times.js';
import type { PointCondition } from './port.js';

/** A condition on the metadata as one on the payload of a chunk. */
export function filterCondition(condition: Condition): PointCondition {
  switch (condition.kind) {
    case 'all':
      return { must: condition.of.map(filterCondition) };
    case 'any':
      return condition.of.length === 0 ? never : { should: condition.of.map(filterCondition) };
    case 'not':
      return { must_not: [filterCondition(condition.of)] };
    case 'in': {
      const key = metadataPath(condition.path);
      return condition.values.length === 0
        ? never
        : { should: condition.values.map((value) => equals(key, value)) };
    }
    case 'exists':
      return { must_not: [{ is_empty: { key: metadataPath(condition.path) } }] };
    case 'numbers':
      return { key: metadataPath(condition.path), range: condition.bounds };
    case 'times':
      return { key: timesPath(condition.path), range: condition.bounds };
    default:
      return condition satisfies never;
  }
}

/** No `should` at all would be true. */
const never: PointCondition = { must_not: [{ must: [] }] };

/** A number is matched as a range: `match` takes whole numbers only, and 2 is not 2.0 there. */
function equals(key: string, value: FilterValue): PointCondition {
  if (value === null) return { is_null: { key } };
  if (typeof value === 'number') return { key, range: { gte: value, lte: value } };
  return { key, match: { value } };
}
