import { plainBlock, type ReadBlock } from './block.js';
import { isBlankLine, type Line, type ReadLine } from './line.js';

export interface FenceOpening {
  readonly mark: string;
  readonly length: number;
}

/** A run of three or more backticks or tildes at `at`; after backticks, no backtick further on in the line. */
export function fenceOpening(text: string, at: number, line: Line): FenceOpening | undefined {
  const mark = text[at];
  if (mark !== '`' && mark !== '~') return undefined;
  const after = runEnd(text, at, line.end);
  if (after - at < 3) return undefined;
  if (mark === '`') {
    const again = text.indexOf('`', after);
    if (again >= 0 && again < line.end) return undefined;
  }
  return { mark, length: after - at };
}

/**
 * The last line of a fence that was opened before `from`: its closing line, or the last line before one that is
 * indented less than the list item that holds it, or the last of the text. Undefined when there is no further line.
 */
export function fenceEnd(
  text: string,
  opening: FenceOpening,
  from: number,
  itemIndent: number,
  readLine: ReadLine,
): Line | undefined {
  let last: Line | undefined;
  for (let at = from; at < text.length; at = last.next) {
    const line = readLine(at);
    if (!isBlankLine(line) && line.indent < itemIndent) return last;
    last = line;
    if (closes(text, line, opening, itemIndent)) return line;
  }
  return last;
}

export const readFence: ReadBlock = (text, line, readLine) => {
  const opening = line.indent < 4 ? fenceOpening(text, line.first, line) : undefined;
  if (opening === undefined) return undefined;
  const last = fenceEnd(text, opening, line.next, 0, readLine);
  return plainBlock('fence', line.start, last?.end ?? line.end);
};

function closes(text: string, line: Line, opening: FenceOpening, itemIndent: number): boolean {
  // In a list the fence itself may be indented further, by the items between.
  if (itemIndent === 0 && line.indent > 3) return false;
  if (text[line.first] !== opening.mark) return false;
  const after = runEnd(text, line.first, line.end);
  return after - line.first >= opening.length && isSpace(text, after, line.end);
}

function runEnd(text: string, at: number, end: number): number {
  const unit = text.charCodeAt(at);
  while (at < end && text.charCodeAt(at) === unit) at += 1;
  return at;
}

function isSpace(text: string, at: number, end: number): boolean {
  while (at < end && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at === end;
}
