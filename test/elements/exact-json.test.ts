import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson } from '../../src/elements/exact-json.js';

test('what JavaScript writes is read as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
    }),
  );
  for (const number of [0.1, 0.30000000000000004, 1e21, 5e-324, 2 ** 53 - 1])
    expect(parseExactJson(`[${number}]`)).toEqual([number]);
});

test('a number that would be rounded stays its text, one that merely looks otherwise does not', () => {
  expect(parseExactJson('[9007199254740993, 1e400, 0.1234567890123456789, 1.50, 1e2]')).toEqual([
    '9007199254740993',
    '1e400',
    '0.1234567890123456789',
    1.5,
    100,
  ]);
});

test('digits within texts and names stay as they are', () => {
  const text = '{"9007199254740993": "9007199254740993", "a\\"1": "x\\\\"}';
  expect(parseExactJson(text)).toEqual({ '9007199254740993': '9007199254740993', 'a"1': 'x\\' });
});
