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
 * 99th percentile of how long the main thread works between two turns of a timer of 5 ms while this goes on, in ms of
 * its own processor time: neighbours on a busy machine change little of it.
 */
async function blockedWhile(work: () => Promise<unknown>): Promise<number> {
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
  return blocks.sort((a, b) => a - b)[Math.floor(blocks.length * 0.99)]!;
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
