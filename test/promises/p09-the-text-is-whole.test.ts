import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../support/repository.js';
import type { RunEvent } from '../../src/observability/events.js';
import { tinyModelFiles } from '../support/tiny-model.js';
import { writeFiles } from '../support/temporary-folder.js';
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

test('a chunk size over what the model reads is lowered, and told: a chunk of any length is embedded whole', async () => {
  const bed = await openBed();
  // It reads 8 tokens, two of which stand around a text.
  await writeFiles(join(bed.folder, 'tiny'), tinyModelFiles());
  const words = ['ants', 'bees', 'cows'];
  const text = Array.from({ length: 400 }, (_, at) => words[at % 3]).join(' ');
  await bed.write({ 'words.md': text, 'run.md': ':'.repeat(200), 'heading.md': `# ants bees\n\n${text}` });
  const notices: RunEvent[] = [];
  const summary = await bed.run({
    input: {
      chain: [
        { chunk: { markdown: { maxTokens: 600, headingPrefix: true } } },
        { embed: { onnx: { model: './tiny' } } },
      ],
    },
    onEvent: (event) => event.type === 'notice' && notices.push(event),
  });
  expect(summary.outcomes).toMatchObject({ stored: 3, failed: 0 });
  const codes = notices.map((event) => (event.type === 'notice' ? event.code : ''));
  expect(codes).toContain('chunk_size_lowered');
  expect(codes).not.toContain('text_truncated');
  const { chunks } = await bed.content();
  expect(Math.max(...chunks.map(({ tokens }) => tokens))).toBe(6);
  expect(chunks.length).toBeGreaterThan(1_000 / 6);
});
