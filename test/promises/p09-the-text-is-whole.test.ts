import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../support/repository.js';
import { usePglite } from './bed.js';

const openBed = usePglite();

test('every stored chunk is a slice of its document, and together they cover all that is not blank', async () => {
  const bed = await openBed();
  const from = join(repositoryRoot, 'node_modules');
  const paths = (await readdir(from, { recursive: true })).filter((path) => path.endsWith('.md')).sort();
  const files: Record<string, string> = {
    'nasty.md': `# \u{1f469}\u200d\u{1f680} e\u0301 \u0000 ${'\u6f22\u5b57'.repeat(400)}\r\n\r\n\`\`\`\n${'x '.repeat(900)}\n\`\`\`\n`,
    'lone.txt': 'A lone \ud83d here.',
  };
  for (const [n, path] of paths.entries())
    if (n % 8 === 0) files[`${n}.md`] = await readFile(join(from, path), 'utf8');
  await bed.write(files);
  const summary = await bed.run({
    input: {
      chain: [
        { chunk: { markdown: { maxTokens: 60, overlap: 10 } } },
        { embed: { static: { model: 'bundled' } } },
      ],
    },
  });
  expect(summary.outcomes.failed).toBe(0);
  const { chunks } = await bed.content();
  expect(chunks.length).toBeGreaterThan(500);
  for (const [id, written] of Object.entries(files)) {
    // What no store can hold became U+FFFD, at the same length; a file in UTF-8 holds no lone surrogate.
    const text = Buffer.from(written)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .replaceAll('\0', '\ufffd');
    const own = chunks.filter(({ documentId }) => documentId === id);
    let covered = 0;
    let before = -1;
    for (const { start, end, text: stored } of own) {
      expect(stored).toBe(text.slice(start, end));
      expect(start).toBeGreaterThan(before);
      expect(text.slice(covered, Math.max(covered, start)).trim()).toBe('');
      expect(/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(stored)).toBe(false);
      before = start;
      covered = Math.max(covered, end);
    }
    expect(text.slice(covered).trim()).toBe('');
  }
});
