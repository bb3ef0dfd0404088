import type { Hit } from '../retrieval/hit.js';

const widest = 100;
const mostLines = 6;

/** A hit for people: score, document and place, then the passage, indented; without neighbours cut to a few lines. */
export function passageLines({ score, documentId, metadata, passage, ...chunk }: Hit): string[] {
  const { start, end, text } = passage ?? chunk;
  const headings = Array.isArray(metadata['headings']) ? `  ${metadata['headings'].join(' > ')}` : '';
  const lines = wrap(text.trim().replace(/\s+/g, ' '), widest);
  const most = passage === undefined ? mostLines : lines.length;
  const shown = lines.slice(0, most).map((line) => `    ${line}`);
  if (lines.length > most) shown.push('    …');
  return [`${score.toFixed(3)}  ${documentId} [${start}-${end}]${headings}`, ...shown, ''];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(line);
  return lines;
}
