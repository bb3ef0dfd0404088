import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenKind } from '../../../src/inference/tokenizer/tokenizer.js';
import { markdownTexts, paragraphs } from './corpus.js';
import { oracle, tokenizerOf } from './oracle.js';
import { bertFile } from './tokenizer-files.js';
import { processorMs } from '../../support/processor-ms.js';

const texts = markdownTexts(80);
const file = bertFile(texts);
const reference = oracle(file);
const tokenizer = await tokenizerOf(file);

const nasty: [string, string[]][] = [
  [
    'accents',
    ['Tōkyō', 'Nguyễn Thị Huệ', 'ǚ', 'İstanbul, I, ı, i̇', 'e\u0301e\u0301x', 'a\u0301\u0323 \u0301b'],
  ],
  ['case', ['ΣΟΦΟΣ', 'ßẞ ﬁ ŒŸ', 'ǅ Ǆ ǆ']],
  ['scripts', ['中文字符 mixed中英', 'สวัสดีครับ', '한국어 텍스트', '𠀀𠀁 x𠀀y', 'がギ', 'हिन्दी में']],
  ['emoji', ['😀👍🏽', '👩‍👩‍👧‍👦 family', 'a😀b', '☃️']],
  [
    'controls',
    [
      'a\0b\u0007c',
      '\u200b\u200b',
      'x\u200by\u00a0z',
      'soft\u00adhyphen',
      '\ufeffbom',
      'a\u2028b\u2029c',
      '\ufffd',
    ],
  ],
  ['signs', ['a≠b', '≮≯', '\u037e \u1fef', '«x» – — …', '`a`^b~c$d+e<f=g>h|i']],
  ['lone surrogates', ['\ud800', 'a\udc00b', '\ud83d x']],
  ['long words', ['a'.repeat(100), 'a'.repeat(101), 'é'.repeat(100), '한'.repeat(34), '😀'.repeat(101)]],
  ['nothing', ['', ' ', '\n\n\t', '\u0301']],
];

async function expectReference(text: string) {
  expect([...tokenizer.ids(text)], JSON.stringify(text)).toEqual((await reference(text)).ids);
}

describe('the BERT tokenizer', () => {
  it.each(nasty)('gives the ids of the reference for %s', async (_, texts) => {
    for (const text of texts) await expectReference(text);
  });

  it('takes text that spells a special token for ordinary text', async () => {
    for (const text of [
      '[SEP]',
      'x [MASK] y',
      '<s> </s>',
      '<|endoftext|>',
      '[CLS]a[PAD]',
      '[UNK] [unused1]',
    ]) {
      await expectReference(text);
      const special = new Set(file.added_tokens.map(({ id }) => id));
      special.delete(tokenizer.unknownId!);
      expect([...tokenizer.ids(text)].filter((id) => special.has(id))).toEqual([]);
      expect(tokenizer.ids(text).length).toBeGreaterThan(0);
    }
  });

  it('gives the ids of the reference for real Markdown, and offsets that read the same', async () => {
    const parts = paragraphs(texts);
    expect(parts.length).toBeGreaterThan(1000);
    for (const text of parts.slice(0, 2500)) {
      const { ids, offsets } = await reference(text);
      const encoding = tokenizer.encode(text);
      expect([...encoding.ids], text).toEqual(ids);
      // The reference counts code points; where the text has no pair they are our units.
      if (/[\ud800-\udfff]/.test(text) || offsets.at(-1)![1]! > text.length) continue;
      const ours = ids.map((_, at) => [encoding.starts[at]!, encoding.ends[at]!]);
      expect(ours, text).toEqual(offsets);
    }
  });

  it('gives the ids of the reference for every character of most blocks', async () => {
    const words: string[] = [];
    for (let code = 0; code < 0x20000; code++) {
      const dull =
        (code >= 0x4e10 && code < 0x9ff0) ||
        (code >= 0xac10 && code < 0xd790) ||
        (code >= 0x12010 && code < 0x16a00) ||
        (code >= 0x17010 && code < 0x18ce0);
      if (dull || (code >= 0xd800 && code < 0xf8f0)) continue;
      const character = String.fromCodePoint(code);
      words.push(`a${character}b ${character}.`);
    }
    for (let at = 0; at < words.length; at += 1000) {
      const text = words.slice(at, at + 1000).join(' ');
      const { ids } = await reference(text);
      expect(tokenizer.ids(text).join() === ids.join(), `from word ${at}: ${words[at]}`).toBe(true);
    }
  });

  it('gives the ids of the reference for any Unicode', async () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(...texts[0]!.split(' ')),
    );
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
    await fc.assert(fc.asyncProperty(text, expectReference), { numRuns: 1500 });
  });

  it.each([
    { lowercase: false },
    { lowercase: false, strip_accents: true },
    { lowercase: true, strip_accents: false },
    { clean_text: false },
    { handle_chinese_chars: false },
  ])('follows the normalizer of the file: %o', async (flags) => {
    const other = bertFile(texts, flags);
    const reference = oracle(other);
    const tokenizer = await tokenizerOf(other);
    const parts = [...paragraphs(texts).slice(0, 300), ...nasty.flatMap(([, texts]) => texts)];
    // A lone surrogate reaches the reference as U+FFFD.
    for (const text of parts.map((text) => text.toWellFormed()))
      expect([...tokenizer.ids(text)], JSON.stringify(text)).toEqual((await reference(text)).ids);
  });

  it('marks where a text can be cut without changing ids', () => {
    for (const text of ['embedding Nguyễn, 中文x', ...paragraphs(texts).slice(0, 60)]) {
      const { ids, starts, kinds } = tokenizer.encode(text);
      kinds.forEach((kind, at) => {
        if (kind === tokenKind.inside) return;
        const left = tokenizer.ids(text.slice(0, starts[at]));
        const right = tokenizer.ids(text.slice(starts[at]));
        expect([...left, ...right]).toEqual([...ids]);
      });
    }
  });

  it('remembers no more words than it has room for, and stays right', () => {
    const words = Array.from({ length: 150_000 }, (_, at) => `w${at.toString(36)}`);
    const text = words.join(' ');
    const first = tokenizer.ids(text);
    expect(Buffer.compare(Buffer.from(tokenizer.ids(text).buffer), Buffer.from(first.buffer))).toBe(0);
  });

  it.each([
    ['base64', Buffer.from('\xfb\xef\xbe0'.repeat(190_000), 'latin1').toString('base64').slice(0, 1_000_000)],
    ['one word', 'ab'.repeat(500_000)],
    ['accents', '\u0301'.repeat(1_000_000)],
    ['Thai', 'สวัสดี'.repeat(170_000)],
    ['Chinese', '漢字'.repeat(500_000)],
  ])('takes a million characters of %s in time that grows with their number', (_, text) => {
    const time = (length: number) => {
      const part = text.slice(0, length);
      return processorMs(() => tokenizer.encode(part));
    };
    time(20_000);
    const short = Math.min(time(100_000), time(100_000), time(100_000));
    expect(time(1_000_000)).toBeLessThan(30 * short + 300);
  });
});

it('gives the same ids however many different words it has seen before', async () => {
  const worn = await tokenizerOf(file);
  const numbers = Array.from({ length: 140_000 }, (_, number) => `n${number * 7919}`).join(' ');
  const before = worn.ids(numbers);
  const fresh = await tokenizerOf(file);
  for (const text of texts.slice(0, 20)) expect(worn.ids(text)).toEqual(fresh.ids(text));
  expect(worn.ids(numbers)).toEqual(before);
});
