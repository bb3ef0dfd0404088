import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../support/repository.js';
import { usePglite } from './bed.js';

const openBed = usePglite();

/** Processor time of the main thread so far, in ms; where the system does not tell it, the time of the wall. */
function spentMs(): number {
  const told = `/proc/self/task/${process.pid}/schedstat`;
  return existsSync(told) ? Number(readFileSync(told, 'utf8').split(' ')[0]) / 1e6 : performance.now();
}

/**
 * 99th percentile, or another share, of how long the main thread works between two turns of a timer of 5 ms while this goes on, in ms of
 * its own processor time: neighbours on a busy machine change little of it.
 */
async function blockedWhile(work: () => Promise<unknown>, share = 0.99): Promise<number> {
  const blocks: number[] = [];
  let last = spentMs();
  const timer = setInterval(() => {
    const now = spentMs();
    blocks.push(now - last);
    last = now;
  }, 5);
  await work();
  clearInterval(timer);
  blocks.push(spentMs() - last);
  return blocks.sort((a, b) => a - b)[Math.ceil(blocks.length * share) - 1]!;
}

test('the main thread answers while documents are chunked, embedded and stored', async () => {
  const bed = await openBed();
  const from = join(repositoryRoot, 'node_modules');
  const paths = (await readdir(from, { recursive: true })).filter((path) => path.endsWith('.md')).sort();
  const files: Record<string, string> = {};
  for (const [n, path] of paths.entries())
    if (n % 4 === 0) files[`${n}.md`] = await readFile(join(from, path), 'utf8');
  await bed.write(files);
  // The bar of the benchmark; here it is a tenth of that.
  expect(await blockedWhile(() => bed.run())).toBeLessThan(50);
});

test('a megabyte of base64 on one line is chunked and stored with its neighbours, and the main thread answers meanwhile', async () => {
  const bed = await openBed();
  const bytes = createHash('shake256', { outputLength: 750_000 }).update('base64').digest();
  const texts = {
    before: 'Ants live in colonies.',
    blob: bytes.toString('base64'),
    after: 'Bees make honey.',
  };
  const lines = Object.entries(texts).map(([id, text]) => JSON.stringify({ id, text }));
  await bed.write({ 'records.jsonl': lines.join('\n') });
  const longest = await blockedWhile(async () => {
    expect((await bed.run()).outcomes).toMatchObject({ stored: 3, failed: 0 });
  }, 1);
  expect(longest).toBeLessThan(200);
  const { chunks } = await bed.content();
  const blob = chunks.filter(({ documentId }) => documentId.endsWith('blob'));
  expect(blob.map(({ text }) => text).join('')).toBe(texts.blob);
  expect(blob.length).toBeGreaterThan(1_000);
});
