import { plainBlock, type ReadBlock } from './block.js';
import type { Line } from './line.js';

/** A thematic break: three or more of the same `-`, `*` or `_`, with nothing else but spaces. */
export function isRule(text: string, line: Line): boolean {
  const mark = text[line.first];
  if (line.indent > 3 || (mark !== '-' && mark !== '*' && mark !== '_')) return false;
  let marks = 0;
  for (let at = line.first; at < line.end; at += 1) {
    if (text[at] === mark) marks += 1;
    else if (text[at] !== ' ' && text[at] !== '\t') return false;
  }
  return marks >= 3;
}

export const readRule: ReadBlock = (text, line) =>
  isRule(text, line) ? plainBlock('rule', line.start, line.end) : undefined;
