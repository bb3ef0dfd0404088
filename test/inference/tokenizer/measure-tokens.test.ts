import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureTokens } from '../../../src/inference/tokenizer/measure-tokens.js';
import { sliceIds } from '../../../src/inference/tokenizer/slice-ids.js';
import { tokenKind } from '../../../src/inference/tokenizer/tokenizer.js';
import { markdownTexts } from './corpus.js';
import { tokenizerOf } from './oracle.js';
import { bertFile, bpeFile, unigramFile } from './tokenizer-files.js';

const texts = markdownTexts(40);
const bert = await tokenizerOf(bertFile(texts));
const tokenizers = [
  ['BERT', bert],
  ['Unigram', await tokenizerOf(unigramFile(texts))],
  ['BPE', await tokenizerOf(bpeFile(texts))],
] as const;

const piece = fc.oneof(
  fc.constantFrom(
    ...texts.join(' ').split(' ').slice(0, 500),
    ' ',
    '\n\n',
    'e\u0301',
    '한국어가',
    '漢',
    '😀',
    '\u200b',
  ),
  fc.constantFrom('x'.repeat(130), 'deadbeef'.repeat(40), 'unembeddable', '[SEP]'),
);
const sample = fc
  .tuple(
    fc.array(piece, { minLength: 1, maxLength: 14 }),
    fc.nat(),
    fc.nat(),
    fc.integer({ min: 3, max: 60 }),
  )
  .map(([pieces, a, b, budget]) => {
    const text = pieces.join('');
    const start = a % (text.length + 1);
    return { text, start, end: start + (b % (text.length - start + 1)), budget };
  });

describe.each(tokenizers)('the measure of a %s text', (name, tokenizer) => {
  it('never counts fewer tokens than a slice has, and fits to the budget', () => {
    fc.assert(
      fc.property(sample, ({ text, start, end, budget }) => {
        const measure = measureTokens(tokenizer, tokenizer.encode(text));
        const tokens = measure.tokens(start, end);
        // Between segments the library's tokenizers may join what a cut keeps apart: then the count is above.
        expect(tokens).toBeGreaterThanOrEqual(tokenizer.ids(text.slice(start, end)).length);
        const fitted = measure.fit(start, budget, end);
        expect(fitted).toBeGreaterThanOrEqual(start);
        expect(fitted).toBeLessThanOrEqual(end);
        expect(measure.tokens(start, fitted)).toBeLessThanOrEqual(budget);
        if (tokens <= budget) expect(fitted).toBe(end);
        if (name === 'BERT' && start < end) expect(fitted).toBeGreaterThan(start);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('the measure of a BERT text', () => {
  it('is exact, and so are the ids of a slice, unless a word is over-long', () => {
    fc.assert(
      fc.property(sample, ({ text, start, end }) => {
        const encoding = bert.encode(text);
        const ids = bert.ids(text.slice(start, end));
        expect([...sliceIds(bert, encoding, start, end)]).toEqual([...ids]);
        if (encoding.kinds.includes(tokenKind.overlong)) return;
        expect(measureTokens(bert, encoding).tokens(start, end)).toBe(ids.length);
      }),
      { numRuns: 3000 },
    );
  });

  it('fits as many whole words as the budget holds', () => {
    const text = 'one two three four five six seven eight nine ten';
    const measure = measureTokens(bert, bert.encode(text));
    const end = measure.fit(0, measure.tokens(0, 13), text.length);
    expect(text.slice(0, end).trimEnd()).toBe('one two three');
  });

  it('charges an over-long word by its length, so that it is cut', () => {
    const text = 'f00d'.repeat(250_000);
    const measure = measureTokens(bert, bert.encode(text));
    let slices = 0;
    const began = performance.now();
    for (let at = 0; at < text.length; slices++) {
      const end = measure.fit(at, 256, text.length);
      expect(end).toBeGreaterThan(at);
      at = end;
    }
    expect(slices).toBeGreaterThan(1000);
    expect(slices).toBeLessThan(4000);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
