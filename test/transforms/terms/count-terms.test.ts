import fc from 'fast-check';
import { expect, test } from 'vitest';
import { termSpace } from '../../../src/elements/terms.js';
import { countTerms } from '../../../src/transforms/terms/count-terms.js';

/** How often each of these words occurs in a text, found by the number that it has alone. */
function counts(text: string, ...words: readonly string[]): number[] {
  const { ids, counts: found } = countTerms(text);
  return words.map((word) => {
    const alone = countTerms(word);
    expect(alone.ids).toHaveLength(1);
    return found[ids.indexOf(alone.ids[0]!)] ?? 0;
  });
}

test('words are runs of letters, marks and digits, in lower case', () => {
  expect(counts("Don't STOP, stop! error_code=E42", 'don', 't', 'stop', 'error', 'code', 'e42')).toEqual([
    1, 1, 2, 1, 1, 1,
  ]);
  expect(countTerms(' \n.,;!').ids).toHaveLength(0);
  expect(counts('Žluťoučký कुत्ता straße', 'žluťoučký', 'कुत्ता', 'STRASSE'.toLowerCase())).toEqual([1, 1, 0]);
});

test('letters of full width, ligatures and composed marks are those that they stand for', () => {
  expect(counts('ＡＢＣ ﬁle e\u0301t\u00e9', 'abc', 'file', 'ÉTÉ')).toEqual([1, 1, 1]);
});

test('where a script puts no space between words, two characters are one', () => {
  const { ids } = countTerms('東京都はtower2');
  expect(ids).toHaveLength(4);
  expect(counts('東京都はtower2', '東京', '京都', '都は', 'tower2', '東')).toEqual([1, 1, 1, 1, 0]);
  expect(counts('水 と 火', '水', '火')).toEqual([1, 1]);
  expect(counts('サーバー', 'サー', 'バー')).toEqual([1, 1]);
});

test('text that is ASCII has the terms that it has beside other text', () => {
  const ascii = fc.string({ unit: fc.constantFrom(...'aB9 _-\n\'"', 'word', 'WORD', '42'), maxLength: 30 });
  fc.assert(
    fc.property(ascii, (text) => {
      const alone = countTerms(text);
      const beside = countTerms(`${text} ü`);
      const [other] = countTerms('ü').ids;
      const rest = [...beside.ids].map((id, at) => [id, beside.counts[at]]).filter(([id]) => id !== other);
      expect([...alone.ids].map((id, at) => [id, alone.counts[at]])).toEqual(rest);
    }),
  );
});

test('ids ascend, each once, within the space of terms; different words have different ones', () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `word${at}`);
  const { ids, counts: found } = countTerms(words.join(' '));
  expect(ids.length).toBeGreaterThan(19_990);
  for (let at = 1; at < ids.length; at += 1) expect(ids[at]!).toBeGreaterThan(ids[at - 1]!);
  expect(ids[0]!).toBeGreaterThanOrEqual(0);
  expect(ids.at(-1)!).toBeLessThan(termSpace);
  expect(found.reduce((sum, count) => sum + count, 0)).toBe(20_000);
});
