import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { characterMeasure } from '../../../src/transforms/chunk/character-measure.js';
import { createSplitter, type ChunkerSpec } from '../../../src/transforms/chunk/chunker.js';
import { chunkerSchema } from '../../../src/transforms/chunk/schema.js';

describe('the chunker of a configuration file', () => {
  it('makes a splitter', () => {
    const spec = chunkerSchema.parse({ recursive: { maxTokens: 3, separators: [{ pattern: '\\|' }, ' '] } });
    const text = 'one two|three';
    const passages = createSplitter(spec)(text, characterMeasure(4));
    expect(passages.map(({ start, end }) => text.slice(start, end))).toEqual(['one two|', 'three']);
    expect(createSplitter({ markdown: {} })('# A', characterMeasure())).toMatchObject([{ headings: ['A'] }]);
  });

  it.each([
    [
      { markdown: { maxTokens: 10, overlap: 10 } },
      'markdown.overlap',
      'overlap must be smaller than maxTokens (10), not 10',
    ],
    [
      { markdown: { maxTokens: 10, minTokens: 11 } },
      'markdown.minTokens',
      'minTokens must be at most maxTokens (10), not 11',
    ],
    [{ markdown: { maxTokens: 0 } }, 'markdown.maxTokens', 'must be at least 1'],
    [{ recursive: { maxTokens: '9' } }, 'recursive.maxTokens', 'must be a whole number of at least 1'],
    [{ recursive: { overlap: 1.5 } }, 'recursive.overlap', 'must be a whole number of at least 0'],
    [{ recursive: { maxtokens: 9 } }, 'recursive', 'Unrecognized key: "maxtokens"'],
    [
      { recursive: { separators: [{ pattern: '(' }] } },
      'recursive.separators.0.pattern',
      'is not a regular expression',
    ],
    [{}, '', 'must be { markdown: { ... } } or { recursive: { ... } }'],
    [{ markdown: {}, recursive: {} }, '', 'must be { markdown: { ... } } or { recursive: { ... } }'],
  ])('refuses %j at the key that is wrong', (spec, path, message) => {
    const issues = chunkerSchema.safeParse(spec).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
    expect(issues[0]!.message).toContain(message);
  });

  it('describes every option', () => {
    const schema = JSON.stringify(z.toJSONSchema(chunkerSchema));
    for (const option of [
      'maxTokens',
      'overlap',
      'minTokens',
      'separators',
      'mergeSections',
      'headingPrefix',
    ]) {
      expect(schema).toMatch(new RegExp(`"${option}":\\{(?:"description"|[^}]*"description"|"minItems")`));
    }
  });

  it('is refused before the first text when its options cannot be', () => {
    const spec: ChunkerSpec = { recursive: { maxTokens: 4, overlap: 4 } };
    expect(() => createSplitter(spec)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});
