import type { SearchHit } from '../contracts/chunk-search.js';

const widest = 100;
const mostLines = 6;

/** A hit for people: score, document and place, then the passage, indented and cut to a few lines. */
export function passageLines({ score, documentId, start, end, text, metadata }: SearchHit): string[] {
  const headings = Array.isArray(metadata['headings']) ? `  ${metadata['headings'].join(' > ')}` : '';
  const lines = wrap(text.trim().replace(/\s+/g, ' '), widest);
  const shown = lines.slice(0, mostLines).map((line) => `    ${line}`);
  if (lines.length > mostLines) shown.push('    …');
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
