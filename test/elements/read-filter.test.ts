import { expect, test } from 'vitest';
import type { Filter } from '../../src/elements/filter/filter.js';
import { readFilter } from '../../src/elements/filter/read-filter.js';

test('several tests of a field are all to hold, bounds are one range', () => {
  expect(readFilter({ 'a.b': { $in: [1, 'x'], $exists: false, $gte: 1, $lt: 2 } })).toEqual({
    kind: 'all',
    of: [
      { kind: 'in', path: ['a', 'b'], values: [1, 'x'] },
      { kind: 'not', of: { kind: 'exists', path: ['a', 'b'] } },
      { kind: 'numbers', path: ['a', 'b'], bounds: { gte: 1, lt: 2 } },
    ],
  });
});

test.each([
  ['2024-05-01', '2024-05-01T00:00:00.000000Z'],
  ['2024-05-01T12:30:00', '2024-05-01T12:30:00.000000Z'],
  ['2024-05-01 12:30:00.1234567+0530', '2024-05-01T07:00:00.123456Z'],
  ['2024-12-31T23:30:00-01', '2025-01-01T00:30:00.000000Z'],
])('the bound %s is the time %s', (written, read) => {
  expect(readFilter({ at: { $lt: written } })).toEqual({ kind: 'times', path: ['at'], bounds: { lt: read } });
});

test.each<[unknown, string]>([
  ['en', 'filter: expected conditions such as {"lang": "en"}, not "en".'],
  [[], 'filter: expected conditions'],
  [{ lang: undefined }, 'filter.lang: expected a value, a list of values, or tests'],
  [{ lang: {} }, 'filter.lang: expected a value, a list of values, or tests'],
  [{ lang: [{}] }, 'filter.lang[0]: expected a text, a finite number, true, false or null, not {}.'],
  [{ n: NaN }, 'filter.n: expected a value'],
  [
    { lang: { $eq: 'en' } },
    'filter.lang.$eq: unknown test; known are $in, $not, $exists, $gt, $gte, $lt, $lte.',
  ],
  [{ lang: { en: 1 } }, 'filter.lang.en: unknown test'],
  [{ lang: { $in: 'en' } }, 'filter.lang.$in: expected a list of values, not "en".'],
  [{ lang: { $exists: 1 } }, 'filter.lang.$exists: expected true or false, not 1.'],
  [{ at: { $gt: 'soon' } }, 'filter.at.$gt: expected a number, or a time such as'],
  [{ at: { $gt: '2023-02-29' } }, 'filter.at.$gt: expected a number, or a time such as'],
  [{ at: { $gt: 1, $lt: '2024-01-01' } }, 'filter.at: its bounds are a number and a time'],
  [{ $nor: [] }, 'filter.$nor: unknown here; expected a field, "$and", "$or" or "$not".'],
  [{ $or: {} }, 'filter.$or: expected a list of filters, not {}.'],
  [{ $or: [{ a: 1 }, 2] }, 'filter.$or[1]: expected conditions'],
  [{ 'a..b': 1 }, 'filter.a..b: a name is empty.'],
])('%j is refused with the place and what is expected', (filter, message) => {
  expect(() => readFilter(filter as Filter)).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) as string }),
  );
});

test('a filter without end is refused, not followed', () => {
  let deep: Filter = {};
  for (let at = 0; at < 100_000; at += 1) deep = { $not: deep };
  expect(() => readFilter(deep)).toThrow('nested deeper');
  const wide = { $or: Array.from({ length: 2000 }, (_, at) => ({ a: at })) };
  expect(() => readFilter(wide)).toThrow('more than 1000 conditions');
});

test.each<[string, Filter]>([
  ['a value', { author: 'a\0b' }],
  ['a listed value', { author: { $in: ['a', '\ud800'] } }],
  ['an excluded value', { author: { $not: '\udc00' } }],
  ['the name of a field', { 'au\0thor': 'a' }],
])(
  'NUL and half of a surrogate pair are refused in %s, since no store can be asked for them',
  (_, filter) => {
    expect(() => readFilter(filter)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringMatching(/^filter\.au/) }),
    );
  },
);
