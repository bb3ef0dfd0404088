import fc from 'fast-check';
import { describe, it } from 'vitest';
import { characterMeasure } from '../../../src/transforms/chunk/character-measure.js';
import { splitMarkdown } from '../../../src/transforms/chunk/markdown.js';
import { splitRecursive } from '../../../src/transforms/chunk/recursive.js';
import { expectWhole } from './support/expect-whole.js';
import { legalLimits, nastyText } from './support/nasty-text.js';
import { wholeWordMeasure } from './support/whole-word-measure.js';
import { wordPieceMeasure } from './support/word-piece-measure.js';

const runs = { numRuns: Number(process.env['CHUNK_RUNS'] ?? 500) };

describe.each([
  ['characters', characterMeasure(1)],
  ['four characters a token', characterMeasure()],
  ['word pieces', wordPieceMeasure],
  ['whole words, of which a part may take more tokens', wholeWordMeasure],
] as const)('P9, the text is whole, measured in %s', (_name, measure) => {
  it('recursive', () => {
    fc.assert(
      fc.property(nastyText, legalLimits, (text, limits) => {
        expectWhole(text, splitRecursive(text, measure, limits), measure, limits);
      }),
      runs,
    );
  });

  it('recursive, at separators of the user', () => {
    const separators = [
      /(?<=\p{L})-/u,
      /\s+/,
      '\n\n',
      { pattern: '[.!?]\\B', flags: 'u' },
      /(?<=x)/,
      'a',
      '\u0301',
    ];
    const some = fc.subarray(separators, { minLength: 1 });
    fc.assert(
      fc.property(nastyText, legalLimits, some, (text, limits, chosen) => {
        const options = { ...limits, separators: chosen };
        expectWhole(text, splitRecursive(text, measure, options), measure, limits);
      }),
      runs,
    );
  });

  it('markdown', () => {
    const options = fc.record(
      { mergeSections: fc.boolean(), headingPrefix: fc.boolean() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(nastyText, legalLimits, options, (text, limits, chosen) => {
        expectWhole(text, splitMarkdown(text, measure, { ...limits, ...chosen }), measure, limits);
      }),
      runs,
    );
  });
});
