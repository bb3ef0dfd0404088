import type { Bounds, Condition, FieldPath } from '../../src/elements/filter/condition.js';
import { isJsonObject } from '../../src/elements/json-fields.js';
import type { Json, Metadata } from '../../src/elements/metadata.js';

/** What a filter means, told as plainly as can be: what each store must agree with. */
export function matches(condition: Condition, metadata: Metadata): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.of.every((one) => matches(one, metadata));
    case 'any':
      return condition.of.some((one) => matches(one, metadata));
    case 'not':
      return !matches(condition.of, metadata);
    case 'in':
      return elements(condition.path, metadata).some((element) =>
        condition.values.some((value) => value === element),
      );
    case 'exists': {
      const value = valueAt(condition.path, metadata);
      return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
    }
    case 'numbers':
      return elements(condition.path, metadata).some(
        (element) => typeof element === 'number' && within(element, condition.bounds),
      );
    case 'times': {
      const bounds = Object.fromEntries(
        Object.entries(condition.bounds).map(([name, bound]) => [name, micros(bound as string)!]),
      ) as Bounds<bigint>;
      return elements(condition.path, metadata).some((element) => {
        const time = typeof element === 'string' ? micros(element) : undefined;
        return time !== undefined && within(time, bounds);
      });
    }
    default:
      return condition satisfies never;
  }
}

function valueAt(path: FieldPath, metadata: Metadata): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    metadata,
  );
}

/** A list stands for its elements, which are not looked into. */
function elements(path: FieldPath, metadata: Metadata): readonly Json[] {
  const value = valueAt(path, metadata);
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
}

function within<Value extends number | bigint>(value: Value, { gt, gte, lt, lte }: Bounds<Value>): boolean {
  return (
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte) &&
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte)
  );
}

const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?)?$/;

/** Microseconds since 1970. */
function micros(text: string): bigint | undefined {
  const [found, date, clock = '00:00:00', fraction = '', sign = '+', hours = '00', minutes = '00'] =
    form.exec(text) ?? [];
  if (found === undefined) return undefined;
  const local = Date.parse(`${date}T${clock}Z`);
  // A day that there is not comes back as another one, or as none.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== `${date}T${clock}`)
    return undefined;
  if (Number(hours) > 14 || Number(minutes) > 59) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return BigInt(local - offset) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}
