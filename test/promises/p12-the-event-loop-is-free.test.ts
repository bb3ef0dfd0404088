import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../support/repository.js';
import { usePglite } from './bed.js';

const openBed = usePglite();

/** 99th percentile of the main thread's delay while this goes on, in milliseconds. */
async function delayWhile(work: () => Promise<unknown>): Promise<number> {
  const monitor = monitorEventLoopDelay({ resolution: 5 });
  monitor.enable();
  await work();
  monitor.disable();
  return monitor.percentile(99) / 1e6;
}

test('the main thread answers while documents are chunked, embedded and stored', async () => {
  const bed = await openBed();
  const from = join(repositoryRoot, 'node_modules');
  const paths = (await readdir(from, { recursive: true })).filter((path) => path.endsWith('.md')).sort();
  const files: Record<string, string> = {};
  for (const [n, path] of paths.entries())
    if (n % 4 === 0) files[`${n}.md`] = await readFile(join(from, path), 'utf8');
  await bed.write(files);
  const idle = await delayWhile(() => delay(1_000));
  const busy = await delayWhile(() => bed.run());
  // The bar of the benchmark, and as much again for a machine that runs other tests beside.
  expect(busy).toBeLessThan(Math.max(100, idle * 4));
});
