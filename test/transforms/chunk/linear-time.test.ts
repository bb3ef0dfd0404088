import { describe, expect, it } from 'vitest';
import type { MeasureText } from '../../../src/contracts/token-measure.js';
import { characterMeasure } from '../../../src/transforms/chunk/character-measure.js';
import { splitMarkdown } from '../../../src/transforms/chunk/markdown.js';
import { splitRecursive } from '../../../src/transforms/chunk/recursive.js';
import { processorMs } from '../../support/processor-ms.js';

const size = 500_000;
const hard: Record<string, string> = {
  'one word': 'k',
  base64: 'aGVsbG8gd29ybGQ/+0',
  'Han without marks': '天地玄黃',
  flags: '🇫🇷',
  'one flag letter': '🇫',
  'joined emoji': '👨‍👩‍👧‍👦',
  'one endless emoji': '👩\u200d',
  'one endless cluster': '\u0301',
  'an endless conjunct': 'क्',
  Devanagari: 'हिन्दी',
  Thai: 'ที่นี่',
  'white space': ' ',
  'blank lines': '\n',
  'spaces before marks': ' \u0301',
  'lone CR': '\r',
  'lone CR rows': '|a|b|\r',
  'lone CR fences': '```\r# x\r',
  headings: '# h\n',
  'nested headings': '# a\n## b\n### c\n',
  fences: '```\n# x\n',
  backticks: '`',
  'item marks': '- ',
  items: '- a\n\n',
  'fences in items': '- ```\n  x\n\n',
  quotes: '> ',
  'quoted lines': '> a\n',
  'html openings': '<div ',
  comments: '<!-- \n',
  tags: '<a b\n',
  'table pipes': '|-',
  'table rows': '| a | b |\n|---|---|\n',
  'rule marks': '- - ',
  underlines: 'a\n=\n',
  'delimiter spaces': '|-          ',
  'front matter': '---\na: b\n\n',
  'full stops': '.',
  closings: '"',
  'item numbers': '1. ',
  tabs: '\t',
};

/** Counts what the chunker asks of its measure: each question is one step of the search for a cut. */
function counting(measure: MeasureText): { readonly measure: MeasureText; asked: number } {
  const counter = {
    asked: 0,
    measure: (text: string) => {
      const inner = measure(text);
      return {
        tokens: (start: number, end: number) => ((counter.asked += 1), inner.tokens(start, end)),
        fit: (start: number, budget: number, limit: number) => (
          (counter.asked += 1),
          inner.fit(start, budget, limit)
        ),
      };
    },
  };
  return counter;
}

describe.each([
  ['recursive', splitRecursive],
  ['markdown', splitMarkdown],
] as const)('the %s chunker takes linear time', (_name, split) => {
  it.each(Object.entries(hard))('on half a million code units of %s', (_kind, unit) => {
    const text = unit.repeat(size / unit.length);
    const ms = processorMs(() => {
      split(text, characterMeasure(), { maxTokens: 64, overlap: 8 });
      split(text, characterMeasure(), { maxTokens: 4 });
    });
    // A tenth of a second here; quadratic time would be minutes.
    expect(ms).toBeLessThan(4000);
  });

  it('asking its measure ten times as often for ten times the text', () => {
    const unit = '# Title\n\nSome words of text, and more. Then others follow!\n\n- item\n- item\n\n';
    const counts = [200, 2000].map((times) => {
      const counter = counting(characterMeasure());
      split(unit.repeat(times), counter.measure, { maxTokens: 40, overlap: 5 });
      return counter.asked;
    });
    expect(counts[1]! / counts[0]!).toBeLessThan(10.5);
  });
});
