import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';

/** The README of every installed package, without repetitions, in a fixed order. */
export function readmes(root: string = process.cwd()): string[] {
  const files = globSync('node_modules/**/readme.md', {
    cwd: root,
    absolute: true,
    caseSensitiveMatch: false,
  });
  return [...new Set(files.sort().map((file) => readFileSync(file, 'utf8')))].filter(
    (text) => text.trim() !== '',
  );
}

/** Texts over and over until they are this many UTF-16 code units together; the last one is whole. */
export function repeated(texts: readonly string[], units: number): string[] {
  const all: string[] = [];
  for (let length = 0; length < units;) {
    const text = texts[all.length % texts.length]!;
    all.push(text);
    length += text.length;
  }
  return all;
}
