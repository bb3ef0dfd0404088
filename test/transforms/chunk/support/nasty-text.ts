import fc from 'fast-check';

/** Pieces that have broken chunkers: clusters of many code points, line ends, marks of many scripts, Markdown. */
const pieces = {
  latin: [
    'a',
    'word',
    'Two words. ',
    'e\u0301',
    'x\u0308\u0323',
    ' ',
    '. ',
    ', ',
    '\u00a0',
    '\ufffd',
    '\u00ad',
    '\u200b',
  ],
  lines: ['\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\n\r', '\t', '    ', '\u2028', '\f', '\ufeff', ' \u0301'],
  emoji: ['😀', '👨‍👩‍👧‍👦', '❤️', '🇫🇷', '🇩🇪', '🇦', '👍🏽', '\u200d', '\ufe0f', '1️⃣', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '🧑‍🚀'],
  thai: ['ที่', 'นี่', 'ก', 'ำ', '้', 'ภาษาไทย ', '๛'],
  khmer: ['ក្រ', 'ុ', 'ម', '្', '។', 'ភាសាខ្មែរ'],
  indic: ['क्ष', 'त्', 'र', '्', 'ि', '।', 'हिन्दी ', '\u200c', 'ക്', 'ഷ', 'ক্', 'ষ'],
  hangul: ['\u1112', '\u1161', '\u11ab', '한', '가', '\u11a8', '글 '],
  other: [
    '؀',
    '؀ \u0301',
    '\u{110bd} ',
    'عربي',
    '؟ ',
    '۔',
    'မြန်',
    '။',
    '你好',
    '。',
    '」',
    '，',
    '𐍈',
    '𑀓',
    '𑁇',
    '፡ሀ',
    '።',
  ],
  markdown: [
    '# ',
    '\n## Title\n',
    '\nUnder\n===\n',
    '\n---\n',
    '```',
    '\n```js\n',
    '\n~~~\n',
    '\n- item',
    '\n  - nested',
    '\n1. one',
    '\n> quote',
    '\n| a | b |\n|---|---|\n| 1 | 2 |',
    '\n    code',
    '<!--',
    '-->',
    '\n<div>\n',
    '`',
    '\\',
  ],
  long: ['k'.repeat(90), 'http://example.org/' + 'path/'.repeat(12), '字'.repeat(50), '\u0301'.repeat(30)],
} as const;

const piece = fc.oneof(...Object.values(pieces).map((some) => fc.constantFrom(...some)));

/** Text of any mixture of the pieces, and of one kind of them with little else between. */
export const nastyText = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('')) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...Object.values(pieces))
      .chain((some) =>
        fc.array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...some) }, piece), { maxLength: 60 }),
      )
      .map((parts) => parts.join('')),
  },
);

/** Legal sizes, most of them tiny. */
export const legalLimits = fc
  .oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 13, max: 80 }))
  .chain((maxTokens) =>
    fc.record(
      {
        maxTokens: fc.constant(maxTokens),
        overlap: fc.oneof(fc.integer({ min: 0, max: maxTokens - 1 }), fc.constant(maxTokens - 1)),
        minTokens: fc.integer({ min: 0, max: maxTokens }),
      },
      { requiredKeys: ['maxTokens', 'overlap'] },
    ),
  );
