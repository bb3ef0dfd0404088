import { describe, expect, it } from 'vitest';
import { longestSegment, eachSegment } from '../../../src/inference/tokenizer/segments.js';
import { markdownTexts, paragraphs } from './corpus.js';
import { oracle, tokenizerOf } from './oracle.js';
import { bpeFile, unigramFile } from './tokenizer-files.js';

const texts = markdownTexts(40);
const parts = paragraphs(texts).slice(0, 400);
const files = { Unigram: unigramFile(texts), BPE: bpeFile(texts) };

describe.each(Object.entries(files))('a %s tokenizer', (_, file) => {
  it('gives the ids of the reference for real Markdown', async () => {
    const tokenizer = await tokenizerOf(file);
    const reference = oracle(file);
    for (const text of parts) expect([...tokenizer.ids(text)], text).toEqual((await reference(text)).ids);
  });

  it.each([
    ['as it is', null],
    ['composed', { type: 'NFKC' }],
    [
      'without its accents',
      { type: 'Sequence', normalizers: [{ type: 'NFKD' }, { type: 'StripAccents' }, { type: 'Lowercase' }] },
    ],
  ])(
    'gives the ids of the reference for rarer accents where the file takes text %s',
    async (_, normalizer) => {
      const normalizing = { ...file, normalizer };
      const tokenizer = await tokenizerOf(normalizing);
      const reference = oracle(normalizing);
      for (const word of ['Tōkyō', 'Nguyễn Thị Huệ', 'ǚ', 'İstanbul, ı', 'a\u0301\u0323']) {
        for (const text of [word, word.normalize('NFC'), word.normalize('NFD')])
          expect([...tokenizer.ids(text)], JSON.stringify(text)).toEqual((await reference(text)).ids);
      }
    },
  );

  it('counts by segments what the text has as a whole', async () => {
    const tokenizer = await tokenizerOf(file);
    let exact = 0;
    for (const text of parts) {
      const whole = tokenizer.ids(text);
      const { ids, starts, ends } = tokenizer.encode(text);
      expect(ids.length).toBeGreaterThanOrEqual(whole.length);
      if (ids.length === whole.length) exact++;
      expect(starts.every((start, at) => start < ends[at]! && start >= (starts[at - 1] ?? 0))).toBe(true);
    }
    expect(exact).toBeGreaterThan(parts.length * 0.97);
  });

  it('takes text that spells a special token for ordinary text, and throws at nothing', async () => {
    const tokenizer = await tokenizerOf(file);
    const special = new Set(file.added_tokens.map(({ id }) => id));
    special.delete(tokenizer.unknownId ?? -1);
    for (const text of ['<s> </s><pad>', 'a<|endoftext|>b', '<|endoftext|>', '\0<s>', '\ud800', '']) {
      expect([...tokenizer.ids(text)].filter((id) => special.has(id))).toEqual([]);
      if (text.length > 3) expect(tokenizer.ids(text).length).toBeGreaterThan(1);
      tokenizer.encode(text);
    }
  });

  it('takes a megabyte on one line in bounded time', async () => {
    const tokenizer = await tokenizerOf(file);
    const line = Buffer.from('\xfb\xef\xbe0'.repeat(190_000), 'latin1')
      .toString('base64')
      .slice(0, 1_000_000);
    const start = performance.now();
    const { ids, ends } = tokenizer.encode(line);
    expect(ids.length).toBeGreaterThan(1000);
    expect(ends.at(-1)).toBe(line.length);
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});

describe('segments', () => {
  it('are bounded, make up the text, and cut no surrogate pair', () => {
    for (const text of [
      ...texts,
      'x'.repeat(1001),
      '😀'.repeat(1001),
      ' '.repeat(1001),
      `${'y '.repeat(9)}\n\n z`,
    ]) {
      let at = 0;
      eachSegment(text, (start, end) => {
        expect(start).toBe(at);
        expect(end - start).toBeGreaterThan(0);
        expect(end - start).toBeLessThanOrEqual(longestSegment);
        const pair = /[\ud800-\udbff]$/.test(text.slice(0, end)) && /^[\udc00-\udfff]/.test(text.slice(end));
        expect(pair).toBe(false);
        at = end;
      });
      expect(at).toBe(text.length);
    }
  });
});
