import fc from 'fast-check';
import type { Filter } from '../../src/elements/filter/filter.js';
import type { Metadata } from '../../src/elements/metadata.js';

const times = [
  '2024-02-29',
  '2023-02-29',
  '2024-05-01T12:00:00Z',
  '2024-05-01 14:00:00+02',
  '2024-05-01T12:00:00.000001Z',
  '2024-05-01T12:00:00.0000019Z',
  '2024-04-31T00:00:00Z',
  '2024-05-01T24:00:00Z',
  '1999-12-31T23:59:59.999999-0100',
  '2000-01-01T00:59:59.999999+00:00',
];
const bounds = times.filter((time) => !['2023-02-29', times[6], times[7]].includes(time));
const numbers = [-2, -1.5, 0, 1, 1.5, 2020, 1e21, 5e-7, 9007199254740993];
const scalars = [...times, ...numbers, 'x', 'X', '', '2020', '1', 'ü', true, false, null];
const names = ['a', 'b', 'o', 'a.b', '0', 'o\'"'];

const scalar = fc.constantFrom(...scalars);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom([['x', 1]], [{ a: 'x' }], {}, [[]], [null]) },
);
const name = fc.constantFrom(...names, 'a', 'a', 'b', 'o');

/** Objects of few names, so that filters meet them: flat, nested, and with lists of everything. */
export const anyMetadata: fc.Arbitrary<Metadata> = fc.dictionary(
  name,
  fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: fc.dictionary(name, value) }),
  { minKeys: 1, maxKeys: 4 },
);

const path = fc
  .array(name, { minLength: 1, maxLength: 2 })
  .map((parts) => parts.map((part) => part.replaceAll('.', '\\.')).join('.'));

function range(bound: fc.Arbitrary<number | string>) {
  const some = (...keys: readonly string[]) => fc.record(Object.fromEntries(keys.map((key) => [key, bound])));
  return fc.oneof(some('$gt'), some('$lte'), some('$gte', '$lt'), some('$gt', '$lte'));
}

const test = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ $not: fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })) }),
  fc.record({ $exists: fc.boolean() }),
  range(fc.constantFrom(...numbers)),
  range(fc.constantFrom(...bounds)),
  fc.record({ $exists: fc.boolean(), $not: scalar }),
);

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.dictionary(path, test, { minKeys: 1, maxKeys: 2 }) as fc.Arbitrary<Filter>,
    fc.record({ $not: tie('filter') }) as fc.Arbitrary<Filter>,
    fc.record({ $and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }) as fc.Arbitrary<Filter>,
    fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }) as fc.Arbitrary<Filter>,
  ),
}));

/** Filters over the same names and values, of every form. */
export const anyFilter = filter;
