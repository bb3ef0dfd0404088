import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitContext } from '../../../src/transforms/infer/fit-context.js';
import { wholeWordMeasure } from '../chunk/support/whole-word-measure.js';

const limits = { maxTokens: 10, contextTokens: 4 };

test('a context is cut to its own limit, and further to what its text leaves', () => {
  const measure = wholeWordMeasure;
  expect(fitContext('one two', 'a b', measure, limits)).toEqual({
    prefix: 'one two\n\n',
    tokens: 4,
    cut: false,
  });
  expect(fitContext('one two three four five', 'a b', measure, limits)).toEqual({
    prefix: 'one two three four\n\n',
    tokens: 6,
    cut: true,
  });
  expect(fitContext('one two three four', 'a b c d e f g h', measure, limits)).toEqual({
    prefix: 'one two\n\n',
    tokens: 10,
    cut: true,
  });
  expect(fitContext('one', 'a b c d e f g h i j', measure, limits)).toEqual({
    prefix: '',
    tokens: 10,
    cut: true,
  });
  expect(fitContext('  ', 'a', measure, limits)).toEqual({ prefix: '', tokens: 1, cut: false });
});

test('whatever the context and the text, together they never go over the limit', () => {
  const words = fc.array(fc.constantFrom('a', 'bb', '😀', 'ü', '\n'), { maxLength: 14 });
  fc.assert(
    fc.property(words, words, (context, text) => {
      const whole = text.slice(0, 10).join(' ');
      const { prefix, tokens } = fitContext(context.join(' '), whole, wholeWordMeasure, limits);
      expect(tokens).toBe(wholeWordMeasure(prefix + whole).tokens(0, prefix.length + whole.length));
      expect(tokens).toBeLessThanOrEqual(limits.maxTokens);
      expect(prefix.isWellFormed()).toBe(true);
      expect(prefix === '' || context.join(' ').trim().startsWith(prefix.trimEnd())).toBe(true);
    }),
  );
});
