import { plainBlock, type Block } from './block.js';
import { fenceOpening, readFence } from './fence.js';
import { readFrontMatter } from './front-matter.js';
import { headingLevel, readHeading, underlinedHeading, underlineLevel } from './heading.js';
import { interruptsWithHtml, readHtml } from './html-block.js';
import { isBlankLine, lineAfter, lineReader, type Line } from './line.js';
import { itemMark, readList } from './list.js';
import { isRule, readRule } from './rule.js';
import { isTableHeader, readTable } from './table.js';

/**
 * The blocks of a Markdown text, in order, by the block rules of CommonMark and the tables of GitHub, in one pass over
 * its lines. Lists and block quotes are not opened: what they hold is theirs. Every line that is not blank is in a block.
 */
export function scanBlocks(text: string): Block[] {
  const readLine = lineReader(text);
  const blocks: Block[] = [];
  let at = 0;
  while (at < text.length) {
    const line = readLine(at);
    if (isBlankLine(line)) {
      at = line.next;
      continue;
    }
    const block =
      readFrontMatter(text, line, readLine) ??
      readHeading(text, line, readLine) ??
      readFence(text, line, readLine) ??
      readRule(text, line, readLine) ??
      readHtml(text, line, readLine) ??
      readQuote(line) ??
      readList(text, line, readLine, beginsBlock) ??
      readIndentedCode(line) ??
      readParagraph(line);
    for (const part of Array.isArray(block) ? block : [block]) blocks.push(part);
    const last = blocks[blocks.length - 1]!;
    at = lineAfter(text, last.end);
  }
  return blocks;

  /** Whether a line ends the paragraph before it. */
  function beginsBlock(line: Line): boolean {
    return (
      headingLevel(text, line) > 0 ||
      (line.indent < 4 && fenceOpening(text, line.first, line) !== undefined) ||
      isQuoted(line) ||
      isRule(text, line) ||
      itemMark(text, line)?.interrupts === true ||
      interruptsWithHtml(text, line)
    );
  }

  function isQuoted(line: Line): boolean {
    return line.indent < 4 && text[line.first] === '>';
  }

  function readQuote(line: Line): Block | undefined {
    if (!isQuoted(line)) return undefined;
    let last = line;
    while (last.next < text.length) {
      const next = readLine(last.next);
      if (isBlankLine(next) || (!isQuoted(next) && beginsBlock(next))) break;
      last = next;
    }
    return plainBlock('quote', line.start, last.end);
  }

  function readIndentedCode(line: Line): Block | undefined {
    if (line.indent < 4) return undefined;
    let last = line;
    let seen = line;
    while (seen.next < text.length) {
      seen = readLine(seen.next);
      if (isBlankLine(seen)) continue;
      if (seen.indent < 4) break;
      last = seen;
    }
    return plainBlock('code', line.start, last.end);
  }

  /** A paragraph, or the heading that an underline makes of it, or the table that it ends in. */
  function readParagraph(line: Line): Block | Block[] {
    let last = line;
    let beforeLast: Line | undefined;
    while (last.next < text.length) {
      const next = readLine(last.next);
      if (isBlankLine(next)) break;
      if (isTableHeader(text, last, next)) {
        const table = readTable(text, last, next, readLine, beginsBlock);
        return beforeLast === undefined
          ? table
          : [plainBlock('paragraph', line.start, beforeLast.end), table];
      }
      const level = underlineLevel(text, next);
      if (level > 0) return underlinedHeading(text, line.start, last.end, next.end, level);
      if (beginsBlock(next)) break;
      beforeLast = last;
      last = next;
    }
    return plainBlock('paragraph', line.start, last.end);
  }
}
