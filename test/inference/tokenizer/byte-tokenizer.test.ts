import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteTokenizer } from '../../../src/inference/tokenizer/byte-tokenizer.js';
import { measureTokens } from '../../../src/inference/tokenizer/measure-tokens.js';
import { splitRecursive } from '../../../src/transforms/chunk/recursive.js';
import { tokenizerOf } from './oracle.js';
import { markdownTexts } from './corpus.js';
import { bertFile, bpeFile, unigramFile } from './tokenizer-files.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);

describe('text measured by its bytes', () => {
  it.each([1, 2, 4])(
    'of %i a token never counts fewer than the bytes of a slice, and fits to the budget',
    (each) => {
      const tokenizer = createByteTokenizer(each);
      fc.assert(
        fc.property(text, fc.nat(60), fc.nat(60), fc.integer({ min: 1, max: 40 }), (whole, a, b, budget) => {
          const [start, end] = [a, b].map((at) => Math.min(at, whole.length)).sort((x, y) => x - y) as [
            number,
            number,
          ];
          const measure = measureTokens(tokenizer, tokenizer.encode(whole));
          expect(measure.tokens(start, end) * each).toBeGreaterThanOrEqual(
            Buffer.byteLength(whole.slice(start, end)),
          );
          const fitted = measure.fit(start, budget, end);
          expect(measure.tokens(start, fitted)).toBeLessThanOrEqual(budget);
        }),
        { numRuns: 500 },
      );
    },
  );

  it('is an upper bound for tokenizers of every kind', async () => {
    const texts = markdownTexts(20);
    const bytes = createByteTokenizer(1);
    const nasty = [
      'ﷺ'.repeat(20),
      '㌀㍿'.repeat(9),
      '한국어 '.repeat(9),
      'Nguyễn Thị Huệ ǚ İ',
      '😀👩‍👩‍👧',
      '\ufffdx',
    ];
    for (const file of [bertFile(texts), unigramFile(texts), bpeFile(texts)]) {
      const real = await tokenizerOf(file);
      // A leading space that some tokenizers put before a text is one token more.
      for (const one of [...texts, ...nasty])
        expect(real.ids(one).length).toBeLessThanOrEqual(bytes.ids(one).length + 1);
    }
  });

  it('cuts a text into chunks of about the usual size', () => {
    const [whole] = markdownTexts(1);
    const tokenizer = createByteTokenizer(4);
    const prose = whole!.repeat(40);
    const chunks = splitRecursive(prose, (of) => measureTokens(tokenizer, tokenizer.encode(of)), {
      maxTokens: 100,
    });
    const sizes = chunks.map(({ start, end }) => Buffer.byteLength(prose.slice(start, end)));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(400);
    expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeGreaterThan(150);
  });
});
