import { plainBlock, type ReadBlock } from './block.js';
import { isBlankLine, type Line } from './line.js';

/** Beginnings whose block goes on to the line that holds their end, over blank lines too. */
const enclosed: readonly (readonly [RegExp, RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![a-z]/i, />/],
];

const blockTag = new RegExp(
  '^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|' +
    'fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|' +
    'menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|' +
    'track|ul)(?:[\\s/>]|$)',
  'i',
);
const loneTag = /^<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?>\s*$/i;

/** An HTML block: to its end mark, or to the next blank line. */
export const readHtml: ReadBlock = (text, line, readLine) => {
  const kind = htmlKind(text, line);
  if (kind === 'none') return undefined;
  let last = line;
  if (kind instanceof RegExp) {
    for (
      let from = line.first + 2;
      !kind.test(text.slice(from, last.end)) && last.next < text.length;
      from = last.start
    ) {
      last = readLine(last.next);
    }
    return plainBlock('html', line.start, last.end);
  }
  while (last.next < text.length) {
    const next = readLine(last.next);
    if (isBlankLine(next)) break;
    last = next;
  }
  return plainBlock('html', line.start, last.end);
};

/** Whether a line begins an HTML block that may follow a paragraph without a blank line. */
export function interruptsWithHtml(text: string, line: Line): boolean {
  const kind = htmlKind(text, line);
  return kind instanceof RegExp || kind === 'block';
}

/** The end mark of an enclosed block, or what kind of tag the line begins with. */
function htmlKind(text: string, line: Line): RegExp | 'block' | 'lone' | 'none' {
  if (line.indent > 3 || text[line.first] !== '<') return 'none';
  const content = text.slice(line.first, line.end);
  for (const [beginning, end] of enclosed) if (beginning.test(content)) return end;
  if (blockTag.test(content)) return 'block';
  return loneTag.test(content) ? 'lone' : 'none';
}
