import { describe, expect, it } from 'vitest';
import { chunk } from '../../../src/transforms/chunk/chunk.js';
import { characterMeasure } from '../../../src/transforms/chunk/character-measure.js';
import { lineSpans } from '../../../src/transforms/chunk/line-spans.js';
import { splitMarkdown } from '../../../src/transforms/chunk/markdown.js';
import { splitRecursive } from '../../../src/transforms/chunk/recursive.js';
import { expectWhole } from './support/expect-whole.js';
import { wordPieceMeasure } from './support/word-piece-measure.js';

const measure = characterMeasure(1);
const slices = (text: string, passages: readonly { start: number; end: number }[]) =>
  passages.map(({ start, end }) => text.slice(start, end));

describe.each([
  ['recursive', splitRecursive],
  ['markdown', splitMarkdown],
] as const)('the %s chunker', (_name, split) => {
  it('moves every start forward where an end pulled back to a line break is shorter than the overlap', () => {
    const rows = 'row 7\n'.repeat(40);
    const lines = `${'m'.repeat(29)}\n`.repeat(40);
    for (const [text, maxTokens, overlap] of [
      [rows, 48, 46],
      [lines, 100, 60],
      [rows, 6, 5],
      [lines, 31, 30],
    ] as const) {
      const passages = split(text, measure, { maxTokens, overlap });
      expectWhole(text, passages, measure, { maxTokens, overlap });
      expect(passages.length).toBeLessThan(text.length);
    }
  });

  it('gives the offsets of the slice itself, not of an earlier one with the same text', () => {
    const footer = 'The same footer stands on each page. '.repeat(6).slice(0, 200);
    const pages = Array.from(
      { length: 30 },
      (_, page) => `Page ${page}: ${'text '.repeat(page)}\n\n${footer}\n\n`,
    ).join('');
    for (const [text, maxTokens, overlap] of [
      ['fee fie fee fie fee', 4, 1],
      [pages, 220, 20],
    ] as const) {
      expectWhole(text, split(text, measure, { maxTokens, overlap }), measure, { maxTokens, overlap });
    }
  });

  it('cuts one long word at its limit, with offsets and overlap right', () => {
    const passages = split('k'.repeat(3000), measure, { maxTokens: 1200, overlap: 200 });
    expect(passages.map(({ start, end }) => [start, end])).toEqual([
      [0, 1200],
      [1000, 2200],
      [2000, 3000],
    ]);
  });

  it('moves a cut off a surrogate pair', () => {
    const text = `${'p'.repeat(2047)}\u{1f600}${'q'.repeat(3000)}`;
    const passages = split(text, measure, { maxTokens: 2048 });
    expect(passages[0]!.end).toBe(2047);
    for (const slice of slices(text, passages)) expect(slice.isWellFormed()).toBe(true);
  });

  it('keeps Thai vowels and tones, and sees CR LF as a line end', () => {
    const line = 'ที่นี่มีน้ำใจ ผู้ใหญ่กับต้นไม้';
    const text = `${line}\r\n`.repeat(12);
    const passages = split(text, measure, { maxTokens: 40 });
    expectWhole(text, passages, measure, { maxTokens: 40 });
    expect(slices(text, passages).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    for (const slice of slices(text, passages)) expect(slice).toBe(line);
  });

  it('holds the limit where there are no spaces: Chinese, Thai, joined emoji, a transcript, one sentence', () => {
    const texts = ['天地玄黃宇宙洪荒'.repeat(625), 'ภาษาไทยไม่มีช่องว่าง'.repeat(200), '👨‍👩‍👧‍👦'.repeat(400)];
    texts.push(
      'so we said that and then they went on '.repeat(540),
      'one sentence of many words that never ends',
    );
    for (const text of texts) {
      for (const [by, maxTokens] of [
        [measure, 300],
        [measure, 24],
        [wordPieceMeasure, 60],
        [wordPieceMeasure, 10],
      ] as const) {
        expectWhole(text, split(text, by, { maxTokens }), by, { maxTokens });
      }
    }
  });

  it.each([
    ['Hindi', 'यह हिन्दी का एक छोटा वाक्य है जो कहीं समाप्त होता है। ', '।'],
    ['Arabic', 'هل هذه جملة قصيرة باللغة العربية تنتهي بعلامة استفهام؟ ', '؟'],
    ['Urdu', 'یہ اردو کا ایک چھوٹا سا جملہ ہے جو یہاں ختم ہوتا ہے۔ ', '۔'],
    ['Burmese', 'ဤသည်မှာမြန်မာဘာသာဖြင့်ရေးသောဝါကျတိုဖြစ်သည်။', '။'],
    ['Amharic', 'ይህ በአማርኛ የተጻፈ አጭር ዓረፍተ ነገር ነው። ', '።'],
    ['Khmer', 'នេះជាប្រយោគខ្លីមួយជាភាសាខ្មែរ។ ', '។'],
    ['Tibetan', 'བོད་སྐད་ཀྱི་ཚིག་གྲུབ་ཐུང་ངུ་ཞིག་ཡིན།', '།'],
    ['Armenian', 'Սա հայերեն կարճ նախադասություն է։ ', '։'],
    ['Chinese', '这是一个很短的中文句子，到这里就结束了。', '。'],
    ['Japanese', '彼は「これは短い文です。」と言って帰った！', '！'],
    ['English', 'This is a short sentence, i.e. one of the kind that J. Smith wrote. ', '.'],
  ])('ends passages where sentences end in %s', (_language, sentence, mark) => {
    const text = sentence.repeat(Math.ceil(1600 / sentence.length));
    const passages = split(text, measure, { maxTokens: 400 });
    expectWhole(text, passages, measure, { maxTokens: 400 });
    expect(passages.length).toBeGreaterThan(3);
    for (const slice of slices(text, passages)) expect(slice.endsWith(mark)).toBe(true);
    for (const slice of slices(text, passages))
      expect(slice.startsWith(sentence.trim().slice(0, 4))).toBe(true);
  });

  it('honours an overlap also where a paragraph fills its passage', () => {
    const text = `${'p'.repeat(58)}\n\n${'q'.repeat(20)}`;
    const passages = split(text, measure, { maxTokens: 60, overlap: 15 });
    expect(passages.map(({ start, end }) => [start, end])).toEqual([
      [0, 58],
      [43, 80],
    ]);
  });

  it('reports by its offsets a shorter overlap that begins at a sentence', () => {
    const text = 'A first sentence stands here. A second one follows it. A third one ends the text, at last.';
    const [first, second] = split(text, measure, { maxTokens: 60, overlap: 30 });
    expect(text.slice(second!.start, first!.end)).toBe('A second one follows it.');
  });

  it('counts no line after the final line end', () => {
    for (const text of ['first\nsecond\n', 'first\nsecond', 'first\r\nsecond\r\n', 'first\rsecond\r']) {
      expect(lineSpans(text, split(text, measure, { maxTokens: 100 }))).toEqual([{ first: 1, last: 2 }]);
      expect(lineSpans(text, split(text, measure, { maxTokens: 7 }))).toEqual([
        { first: 1, last: 1 },
        { first: 2, last: 2 },
      ]);
      expect(lineSpans(text, [{ start: 0, end: text.length }])).toEqual([{ first: 1, last: 2 }]);
    }
  });

  it('takes text that spells control tokens as any other', () => {
    const text = 'The end-of-text marker <|endoftext|> and [SEP], [MASK], <s> are text. '.repeat(20);
    expectWhole(text, split(text, wordPieceMeasure, { maxTokens: 30 }), wordPieceMeasure, { maxTokens: 30 });
  });

  it('gives no passage for blank text', () => {
    for (const text of ['', ' ', '\n\n\t', '\r\n\ufeff\u3000\u00a0', '\u2028'])
      expect(split(text, measure, {})).toEqual([]);
  });

  it('keeps the indent of a first line', () => {
    const text = `def f():\n    first = 1\n\n    second = 2\n\n    third = 3\n`;
    expect(slices(text, split(text, measure, { maxTokens: 22 })).slice(1)).toContain('    second = 2');
  });

  it('cuts between code points a cluster that is over the limit by itself, and no others', () => {
    const text = `a${'\u0301'.repeat(25)} b\u0301`;
    const passages = split(text, measure, { maxTokens: 10 });
    expect(passages.map(({ start, end }) => [start, end])).toEqual([
      [0, 10],
      [10, 20],
      [20, 29],
    ]);
    expect(slices('😀', split('😀', measure, { maxTokens: 1 }))).toEqual(['😀']);
  });

  it('comes to an end where a cut falls behind the space inside a cluster that is over the limit', () => {
    const text = '\n2 |\u0600 \u0301Two words.  \u0600\u1798';
    for (const by of [measure, wordPieceMeasure]) {
      for (const [maxTokens, overlap] of [
        [1, 0],
        [2, 0],
        [2, 1],
        [3, 2],
      ] as const) {
        expectWhole(text, split(text, by, { maxTokens, overlap }), by, { maxTokens, overlap });
      }
    }
  });

  it('refuses sizes that cannot be', () => {
    const refused = expect.objectContaining({ code: 'config_invalid' });
    for (const options of [
      { maxTokens: 0 },
      { maxTokens: 1.5 },
      { maxTokens: 8, overlap: 8 },
      { overlap: -1 },
      { maxTokens: 8, minTokens: 9 },
    ]) {
      expect(() => split('text', measure, options)).toThrow(refused);
    }
  });
});

describe('separators of the user', () => {
  it('leave white space as it is and put nothing in its place', () => {
    const text = 'one\ttwo\nthree  four five';
    const whole = chunk.recursive(text, { maxTokens: 100, measure, separators: [/\s/] });
    expect(whole.map((passage) => passage.text)).toEqual([text]);
    const parts = chunk.recursive(text, { maxTokens: 10, measure, separators: [{ pattern: '\\s' }] });
    expect(parts.map((passage) => passage.text)).toEqual(['one\ttwo', 'three', 'four five']);
  });

  it('are tried in their order, within the window', () => {
    const text = 'aaa|bbb;ccc;ddd|eee';
    const split = (separators: readonly (string | RegExp)[]) =>
      chunk.recursive(text, { maxTokens: 14, measure, separators }).map((passage) => passage.text);
    expect(split(['|', ';'])).toEqual(['aaa|', 'bbb;ccc;ddd|', 'eee']);
    expect(split([';', '|'])).toEqual(['aaa|bbb;ccc;', 'ddd|eee']);
    expect(split([/(?=ccc)/])).toEqual(['aaa|bbb;', 'ccc;ddd|eee']);
  });

  it('are refused when empty or not an expression', () => {
    const refused = expect.objectContaining({ code: 'config_invalid' });
    for (const separator of ['', { pattern: '(' }]) {
      expect(() => chunk.recursive('text', { separators: [separator] })).toThrow(refused);
    }
  });
});
