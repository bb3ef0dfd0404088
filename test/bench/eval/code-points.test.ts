import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codePointOffsets } from '../../../bench/eval/code-points.js';

test('offsets in code points become offsets in UTF-16 code units', () => {
  const text = 'a\u{1F600}b\u{1F468}\u200D\u{1F469}é';
  const offset = codePointOffsets(text);
  expect(text.slice(offset(1), offset(2))).toBe('\u{1F600}');
  expect(text.slice(offset(2), offset(3))).toBe('b');
  expect(text.slice(offset(6))).toBe('é');
  expect(offset(7)).toBe(text.length);
});

test('a slice by converted offsets is the slice of the code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(), fc.nat(), (text, a, b) => {
      const points = Array.from(text);
      const [start, end] = [a % (points.length + 1), b % (points.length + 1)].sort((x, y) => x - y) as [
        number,
        number,
      ];
      const offset = codePointOffsets(text);
      return text.slice(offset(start), offset(end)) === points.slice(start, end).join('');
    }),
  );
});

test('an offset beyond the text is refused', () => {
  expect(() => codePointOffsets('\u{1F600}')(2)).toThrow(RangeError);
});
