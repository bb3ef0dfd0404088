import { describe, expect, it } from 'vitest';
import { chunk } from '../../../src/transforms/chunk/chunk.js';
import { characterMeasure } from '../../../src/transforms/chunk/character-measure.js';
import type { MarkdownOptions } from '../../../src/transforms/chunk/markdown.js';
import { expectWhole } from './support/expect-whole.js';

const measure = characterMeasure(1);
const split = (text: string, options: MarkdownOptions) => {
  const passages = chunk.markdown(text, { ...options, measure });
  expectWhole(text, passages, measure, { ...options, maxTokens: options.maxTokens ?? 256 });
  return passages;
};
const texts = (text: string, options: MarkdownOptions) => split(text, options).map((passage) => passage.text);
const words = (count: number) => 'lorem ipsum dolor sit amet. '.repeat(count).slice(0, count).trimEnd();

describe('the markdown chunker', () => {
  it('keeps every heading in its slice and copies the path to it', () => {
    const text = `intro\n\n# Guide\n\n${words(60)}\n\n## Install\n\n${words(60)}\n\n### Linux\n\n${words(60)}\n\n## Use\n\n${words(60)}`;
    expect(
      split(text, { maxTokens: 90 }).map(({ headings, text: slice }) => [headings, slice.split('\n')[0]]),
    ).toEqual([
      [[], 'intro'],
      [['Guide', 'Install'], '## Install'],
      [['Guide', 'Install', 'Linux'], '### Linux'],
      [['Guide', 'Use'], '## Use'],
    ]);
  });

  it('drops no prose before a sub-heading or before a comment in a fence', () => {
    const text = `## Set up\n\n${words(80)}\n\n${words(70)}\n\n\`\`\`python\n# a comment\nrun()\n\`\`\`\n\n### Next\n\nEnd.`;
    for (const maxTokens of [40, 100, 200, 400]) {
      const passages = split(text, { maxTokens, mergeSections: false });
      expect(passages.flatMap(({ headings }) => headings)).not.toContain('a comment');
      expect(
        passages
          .map((passage) => passage.text)
          .join('')
          .replace(/\s/g, ''),
      ).toBe(text.replace(/\s/g, ''));
    }
  });

  it('merges small sections of one parent up to the limit, and not those of another', () => {
    const section = (title: string) => `${title}\n\n${words(30)}\n\n`;
    const text = ['# A', '## A1', '## A2', '## A3', '## A4', '# B', '## B1'].map(section).join('');
    expect(texts(text, { maxTokens: 130 }).map((slice) => slice.match(/^#.*/gm))).toEqual([
      ['# A', '## A1', '## A2'],
      ['## A3', '## A4'],
      ['# B', '## B1'],
    ]);
    expect(texts(text, { maxTokens: 130, mergeSections: false })).toHaveLength(7);
  });

  it('joins a section shorter than minTokens with the next', () => {
    const text = `# A\n\n## A1\n\n${words(150)}\n\n## A2\n\nShort.\n\n# B\n\n${words(60)}`;
    expect(texts(text, { maxTokens: 170 }).at(-1)).toMatch(/^## A2[^]*# B/);
    expect(texts(text, { maxTokens: 170, minTokens: 5 }).at(-1)).toMatch(/^# B/);
  });

  it('breaks at the higher heading where both are near the limit', () => {
    const text = `# A\n\n${words(60)}\n\n## A1\n\n${words(60)}\n\n# B\n\n${words(20)}\n\n## B1\n\n${words(80)}`;
    expect(texts(text, { maxTokens: 190 })[1]).toMatch(/^# B/);
  });

  it('ends no passage in a heading', () => {
    for (let before = 1; before < 120; before += 1) {
      const text = `# Top\n\n${words(before)}\n\n## Sub\n\n### Deeper\n\n${words(90)}\n\n- item\n- item`;
      for (const slice of texts(text, { maxTokens: 100 })) expect(slice).not.toMatch(/^#[^\n]*$(?![^])/m);
    }
  });

  it('keeps a fence or a table whole where it fits', () => {
    const fence = `\`\`\`js\n${'call(1);\n'.repeat(8)}\n${'call(2);\n'.repeat(2)}\`\`\``;
    const table = `| name | value |\n|---|---|\n${'| some | thing |\n'.repeat(5)}`.trimEnd();
    for (const atom of [fence, table]) {
      for (let before = 1; before < 150; before += 7) {
        const text = `${words(before)}\n\n${atom}\n\n${words(80)}`;
        expect(texts(text, { maxTokens: 130 }).some((slice) => slice.includes(atom))).toBe(true);
      }
    }
  });

  it('cuts a fence over the limit at line ends, a table at row ends', () => {
    const lines = Array.from({ length: 40 }, (_, line) => `  call(${line}, "some. text, here");`);
    const rows = Array.from({ length: 40 }, (_, row) => `| ${row}. Some | text. Here |`);
    for (const [parts, text] of [
      [lines, ['~~~', ...lines, '~~~'].join('\r\n')],
      [rows, ['| a | b |', '|---|---|', ...rows].join('\n')],
    ] as const) {
      for (const [maxTokens, overlap] of [
        [40, 0],
        [64, 0],
        [100, 40],
        [200, 40],
      ] as const) {
        const found = texts(`# Title\n\n${text}`, { maxTokens, overlap }).flatMap((slice) =>
          slice.split(/\r?\n/),
        );
        const known = new Set<string>(['# Title', '', '~~~', '| a | b |', '|---|---|', ...parts]);
        expect(found.filter((line) => !known.has(line))).toEqual([]);
      }
    }
  });

  it('lets no overlap reach over a heading', () => {
    const text = `# A\n\n${words(150)}\n\n# B\n\n${words(150)}`;
    const passages = split(text, { maxTokens: 100, overlap: 40 });
    const second = text.indexOf('# B');
    expect(passages.some(({ start }) => start === second)).toBe(true);
    for (const { start, end } of passages) expect(start < second && end > second).toBe(false);
    expect(passages.some(({ start }, index) => start < (passages[index - 1]?.end ?? 0))).toBe(true);
  });

  it('gives the titles above a passage as a prefix within the limit', () => {
    const text = `# Guide\n\n## Install\n\n${words(300)}\n\n## Use\n\n${words(50)}`;
    const passages = split(text, { maxTokens: 100, headingPrefix: true });
    expect(passages.map(({ prefix }) => prefix)).toEqual([
      undefined,
      'Guide > Install\n\n',
      'Guide > Install\n\n',
      'Guide > Install\n\n',
      'Guide\n\n',
    ]);
    // A title that would take more than a quarter of the passage is left out.
    expect(split(text, { maxTokens: 60, headingPrefix: true })[1]?.prefix).toBe('Install\n\n');
    expect(split(text, { maxTokens: 30, headingPrefix: true })[1]?.prefix).toBeUndefined();
  });
});
