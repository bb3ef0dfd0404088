import { plainBlock, type ReadBlock } from './block.js';
import type { Line } from './line.js';

/** A text whose first `---` is not closed within so many lines begins with a thematic break. */
const mostLines = 1000;
const key = /^(?:#|[\w"'-][^\n]*[:=])/;

/** YAML (`---`) or TOML (`+++`) before the text: its first line must be a key or a comment. */
export const readFrontMatter: ReadBlock = (text, line, readLine) => {
  if (line.start !== 0) return undefined;
  const fence = text.slice(line.start, line.end).trimEnd();
  if ((fence !== '---' && fence !== '+++') || line.next >= text.length) return undefined;
  let at: Line = readLine(line.next);
  if (!key.test(text.slice(at.start, Math.min(at.end, at.start + 200)))) return undefined;
  for (let lines = 0; lines < mostLines; lines += 1) {
    if (at.end - at.start <= 8) {
      const content = text.slice(at.start, at.end).trimEnd();
      if (content === fence || (fence === '---' && content === '...'))
        return plainBlock('frontMatter', 0, at.end);
    }
    if (at.next >= text.length) return undefined;
    at = readLine(at.next);
  }
  return undefined;
};
