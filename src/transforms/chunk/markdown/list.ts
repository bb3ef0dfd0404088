import { plainBlock, type Block } from './block.js';
import { fenceEnd, fenceOpening } from './fence.js';
import { isBlankLine, type Line, type ReadLine } from './line.js';
import { isRule } from './rule.js';

export interface ItemMark {
  /** Columns that a line must be indented by to belong to the item. */
  readonly indent: number;
  /** Position of the item's first character. */
  readonly content: number;
  /** Whether the item may follow a paragraph without a blank line. */
  readonly interrupts: boolean;
}

const mark = /^(?:[-+*]|(\d{1,9})[.)])(?:[ \t]|$)/;

/** Whether a code unit may begin a mark: asked of every line, before a pattern is tried. */
function mayBeMark(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2d || unit === 0x2a || unit === 0x2b;
}

/** The bullet or number that the line begins a list item with. */
export function itemMark(text: string, line: Line): ItemMark | undefined {
  if (line.indent > 3 || !mayBeMark(text.charCodeAt(line.first)) || isRule(text, line)) return undefined;
  const found = mark.exec(text.slice(line.first, Math.min(line.end, line.first + 12)));
  if (found === null) return undefined;
  const markEnd = line.first + found[0].trimEnd().length;
  let content = markEnd;
  while (content < line.end && (text[content] === ' ' || text[content] === '\t')) content += 1;
  const empty = content === line.end;
  // Five columns or more are one space and indented code.
  const gap = empty || content - markEnd > 4 ? 1 : content - markEnd;
  const indent = line.indent + (markEnd - line.first) + gap;
  return { indent, content, interrupts: !empty && (found[1] === undefined || Number(found[1]) === 1) };
}

/**
 * The list that begins at `line`, with all that its items hold: nested lists, code, paragraphs. Headings within an
 * item are part of it, as are lines that only look like headings in its fences.
 */
export function readList(
  text: string,
  line: Line,
  readLine: ReadLine,
  beginsBlock: (line: Line) => boolean,
): Block | undefined {
  let item = itemMark(text, line);
  if (item === undefined) return undefined;
  const start = line.start;
  let last = fenceFrom(item.content, line, item.indent);
  let afterBlank = false;
  while (last.next < text.length) {
    const next = readLine(last.next);
    if (isBlankLine(next)) {
      const resumed = skipBlankLines(next);
      if (resumed === undefined) break;
      afterBlank = true;
      const within = continues(resumed);
      if (!within) break;
      last = within;
      continue;
    }
    afterBlank = false;
    const within = continues(next);
    if (!within) break;
    last = within;
  }
  return plainBlock('list', start, last.end);

  /** The last line taken with `next` when it belongs to the list, else undefined. */
  function continues(next: Line): Line | undefined {
    if (next.indent >= item!.indent) {
      const nested = nestedContent(text, next);
      return fenceFrom(nested, next, item!.indent);
    }
    const another = itemMark(text, next);
    if (another !== undefined) {
      item = another;
      return fenceFrom(another.content, next, another.indent);
    }
    return afterBlank || beginsBlock(next) ? undefined : next;
  }

  function fenceFrom(at: number, from: Line, indent: number): Line {
    const opening = fenceOpening(text, at, from);
    return opening === undefined ? from : (fenceEnd(text, opening, from.next, indent, readLine) ?? from);
  }

  function skipBlankLines(blank: Line): Line | undefined {
    let at = blank.next;
    while (at < text.length) {
      const next = readLine(at);
      if (!isBlankLine(next)) return next;
      at = next.next;
    }
    return undefined;
  }
}

/** Where the content of a line within an item begins, behind the mark of a nested item. */
function nestedContent(text: string, line: Line): number {
  if (!mayBeMark(text.charCodeAt(line.first))) return line.first;
  const nested = mark.exec(text.slice(line.first, Math.min(line.end, line.first + 12)));
  if (nested === null) return line.first;
  let at = line.first + nested[0].length;
  while (at < line.end && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}
