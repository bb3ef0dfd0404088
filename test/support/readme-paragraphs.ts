import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';

/** Paragraphs of the READMEs of installed packages, without repetitions, in a fixed order. */
export function readmeParagraphs(root: string = process.cwd()): string[] {
  const files = globSync('node_modules/**/README.md', { cwd: root, absolute: true }).sort();
  const paragraphs = files.flatMap((file) => readFileSync(file, 'utf8').split(/\n\s*\n/));
  return [...new Set(paragraphs.map((paragraph) => paragraph.trim()))].filter((text) => text !== '');
}
