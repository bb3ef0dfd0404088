import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredChunk } from '../../src/contracts/chunk-search.js';
import { joinChunks } from '../../src/retrieval/passage.js';
import { chunk as chunkers } from '../../src/transforms/chunk/chunk.js';

function stored(
  text: string,
  spans: readonly { readonly start: number; readonly end: number }[],
): StoredChunk[] {
  return spans.map(({ start, end }, ordinal) => ({
    chunkId: String(ordinal),
    documentId: 'a',
    ordinal,
    start,
    end,
    text: text.slice(start, end),
    metadata: {},
  }));
}

test('chunks that overlap or touch give the text that they were cut from', () => {
  const text = 'one two three four five';
  const passage = joinChunks(
    stored(text, [
      { start: 4, end: 13 },
      { start: 8, end: 18 },
      { start: 10, end: 12 },
      { start: 18, end: 23 },
    ]),
  );
  expect(passage).toMatchObject({ documentId: 'a', start: 4, end: 23, text: text.slice(4) });
});

test('a blank that no chunk holds is a space, several are line breaks, so that offsets hold', () => {
  const passage = joinChunks(
    stored('one two\t\t\tthree', [
      { start: 0, end: 3 },
      { start: 4, end: 7 },
      { start: 10, end: 15 },
    ]),
  );
  expect(passage.text).toBe('one two\n\n\nthree');
});

test('what a chunker cut, with any overlap, is put together again, blanks aside', () => {
  const word = fc.constantFrom(
    'word',
    'ü',
    '# Head',
    '- item',
    '\n\n',
    '\n',
    '   ',
    '日本',
    '👩‍🚀',
    'a'.repeat(50),
  );
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 0, max: 8 }),
      (words, overlap) => {
        const text = words.join(' ');
        const passages = chunkers.markdown(text, { maxTokens: 20, overlap });
        if (passages.length === 0) return;
        const passage = joinChunks(stored(text, passages));
        const wanted = text.slice(passage.start, passage.end);
        expect(passage.text.replaceAll(/\s/gu, ' ')).toBe(wanted.replaceAll(/\s/gu, ' '));
        for (const { start, end, text: own } of passage.chunks)
          expect(passage.text.slice(start - passage.start, end - passage.start)).toBe(own);
      },
    ),
  );
});
