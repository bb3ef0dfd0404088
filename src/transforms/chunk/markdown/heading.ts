import type { Block, ReadBlock } from './block.js';
import type { Line } from './line.js';

/** A heading marked by one to six number signs (ATX). */
export const readHeading: ReadBlock = (text, line) => {
  const level = headingLevel(text, line);
  if (level === 0) return undefined;
  const content = text.slice(line.first + level, line.end).trim();
  return { kind: 'heading', start: line.start, end: line.end, level, title: withoutClosing(content) };
};

/** 1 to 6 when the line is an ATX heading, else 0. */
export function headingLevel(text: string, line: Line): number {
  if (line.indent > 3 || text[line.first] !== '#') return 0;
  let at = line.first;
  while (at < line.end && text[at] === '#') at += 1;
  const level = at - line.first;
  return level <= 6 && (at === line.end || text[at] === ' ' || text[at] === '\t') ? level : 0;
}

/** 1 or 2 when the line underlines the paragraph before it (setext), else 0. */
export function underlineLevel(text: string, line: Line): number {
  const mark = text[line.first];
  if (line.indent > 3 || (mark !== '=' && mark !== '-')) return 0;
  let at = line.first;
  while (at < line.end && text[at] === mark) at += 1;
  while (at < line.end && (text[at] === ' ' || text[at] === '\t')) at += 1;
  if (at < line.end) return 0;
  return mark === '=' ? 1 : 2;
}

export function underlinedHeading(
  text: string,
  start: number,
  contentEnd: number,
  end: number,
  level: number,
): Block {
  const title = text.slice(start, contentEnd).trim().replace(/\s+/g, ' ');
  return { kind: 'heading', start, end, level, title };
}

/** Closing number signs belong to the mark when a space parts them from the title. */
function withoutClosing(content: string): string {
  let at = content.length;
  while (at > 0 && content[at - 1] === '#') at -= 1;
  if (at === 0) return '';
  return content[at - 1] === ' ' || content[at - 1] === '\t' ? content.slice(0, at).trimEnd() : content;
}
