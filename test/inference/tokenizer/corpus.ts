import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';

/** Markdown that nobody here wrote: of the packages that are installed, in a fixed order. */
export function markdownTexts(count: number): string[] {
  const cwd = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
  const files = globSync(['*/README.md', '@*/*/README.md'], { cwd, absolute: true }).sort();
  return files.slice(0, count).map((file) => readFileSync(file, 'utf8'));
}

export function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(/\n\s*\n/)).filter((text) => text.trim() !== '');
}

/** Distinct parts of texts, most frequent first. */
export function frequent(texts: readonly string[], part: RegExp): string[] {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [found] of text.matchAll(part)) counts.set(found, (counts.get(found) ?? 0) + 1);
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([found]) => found);
}
