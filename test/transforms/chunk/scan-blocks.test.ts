import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanBlocks } from '../../../src/transforms/chunk/markdown/scan-blocks.js';
import { nastyText } from './support/nasty-text.js';

const kinds = (text: string) =>
  scanBlocks(text).map(({ kind, level, title }) => (level > 0 ? `${level} ${title}` : kind));

describe('the blocks of a Markdown text', () => {
  it('cover every line that is not blank, in order and apart', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        let at = 0;
        for (const { start, end } of scanBlocks(text)) {
          if (start < at || end <= start) throw new Error(`block [${start}, ${end}) after ${at}`);
          expect(text.slice(at, start)).toMatch(/^[ \t\r\n]*$/);
          expect(text.slice(end, end + 1)).toMatch(/^[\r\n]?$/);
          at = end;
        }
        expect(text.slice(at)).toMatch(/^[ \t\r\n]*$/);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['# One\n## Two ##\n###### Six\n####### seven', ['1 One', '2 Two', '6 Six', 'paragraph']],
    ['#no space\n#\ttab\n   # three spaces\n    # four', ['paragraph', '1 tab', '1 three spaces', 'code']],
    ['# C#\n# \\# kept \\#\n#', ['1 C#', '1 \\# kept \\#', '1 ']],
    ['One\n===\n\nTwo\nlines\n---\n\n---', ['1 One', '2 Two lines', 'rule']],
    ['text\r\n# One\r\nmore\r# Two', ['paragraph', '1 One', 'paragraph', '1 Two']],
    ['- item\n---\n* * *\n- - item', ['list', 'rule', 'rule', 'list']],
  ])('know the headings of %j', (text, expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it.each([
    ['```py\n# comment\n```\n# After', ['fence', '1 After']],
    ['~~~\n```\n# in\n~~~~\n# After', ['fence', '1 After']],
    ['````\n```\n# in\n```\n````\n# After', ['fence', '1 After']],
    ['```\n# in\n~~~\n    ```\n# never closed', ['fence']],
    ['``` a`b\n# After', ['paragraph', '1 After']],
    ['- item\n  ```\n  # in\n  ```\n# After', ['list', '1 After']],
    ['- ```\n  # in\n\n  # in\n  ```\n\n# After', ['list', '1 After']],
    ['- a\n  - b\n\n    ```\n    # in\n    ```\n\n  # in the item\n# After', ['list', '1 After']],
    ['- ```\n  # in\n# After', ['list', '1 After']],
    ['1. one\n```\n# in\n```\n2. two', ['list', 'fence', 'list']],
    ['> ```\n> # in\n> ```\n# After', ['quote', '1 After']],
    ['<!--\n# in\n\n# in\n-->\n# After', ['html', '1 After']],
    ['<pre>\n# in\n\n# in\n</pre>\n# After', ['html', '1 After']],
    ['<div>\n# in\n\n# Out\n\n</div>', ['html', '1 Out', 'html']],
    ['---\ntitle: x\n# comment\n---\n# After', ['frontMatter', '1 After']],
    ['+++\ntitle = "x"\n+++\n# After', ['frontMatter', '1 After']],
    ['---\n\n# One\n\n---\n# Two', ['rule', '1 One', 'rule', '1 Two']],
    ['text\n    # lazy\n\n    # code\n\n\n    more\n# After', ['paragraph', 'code', '1 After']],
  ])('take nothing inside a block for a heading: %j', (text, expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it.each([
    ['| a | b |\n|---|:-:|\n| 1 | 2 |\nrow\n\ntext', ['table', 'paragraph']],
    ['text\na | b\n--|--\n1 | 2\n# After', ['paragraph', 'table', '1 After']],
    ['| a | b |\n|---|\n', ['paragraph']],
    ['| a |\n|---|', ['table']],
    ['| \\| | b |\n|---|---|', ['table']],
  ])('know the table in %j', (text, expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it('keep lists and quotes whole over blank and lazy lines', () => {
    expect(kinds('- a\n\n  more\nlazy\n\n- b\n\ntext\n1. not an item? yes\n> quote\nlazy\n\ntext')).toEqual([
      'list',
      'paragraph',
      'list',
      'quote',
      'paragraph',
    ]);
    expect(kinds('text\n2. goes on')).toEqual(['paragraph']);
  });
});
