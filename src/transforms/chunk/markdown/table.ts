import { plainBlock, type Block } from './block.js';
import { isBlankLine, type Line, type ReadLine } from './line.js';

const delimiterRow = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

/** Whether `row` is the header of a table: `below` is a delimiter row with as many cells. */
export function isTableHeader(text: string, row: Line, below: Line): boolean {
  const mark = text[below.first];
  if (below.indent > 3 || (mark !== '|' && mark !== '-' && mark !== ':')) return false;
  const delimiters = text.slice(below.first, below.end).trimEnd();
  if (!delimiters.includes('|') || !delimiterRow.test(delimiters)) return false;
  return cells(text.slice(row.first, row.end)) === cells(delimiters);
}

/** The table whose delimiter row is `below`: its rows go on to a blank line or the first line that begins a block. */
export function readTable(
  text: string,
  header: Line,
  below: Line,
  readLine: ReadLine,
  beginsBlock: (line: Line) => boolean,
): Block {
  let last = below;
  while (last.next < text.length) {
    const line = readLine(last.next);
    if (isBlankLine(line) || beginsBlock(line)) break;
    last = line;
  }
  return plainBlock('table', header.start, last.end);
}

function cells(row: string): number {
  const inner = row.trim();
  let count = 1;
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === '\\') at += 1;
    else if (inner[at] === '|' && at > 0 && at < inner.length - 1) count += 1;
  }
  return count;
}
