import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Document } from '../../src/elements/document.js';
import { startMillrace, type MillraceProcess } from '../support/millrace-process.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';
import { readFolder } from '../support/folder-content.js';
import { document, logOf, outcomes, usePglite } from './bed.js';

const openBed = usePglite();

/** A chain that holds every document until `released`, and tells when the first one came. */
function held() {
  let [release, came] = [() => {}, () => {}];
  const released = new Promise<void>((resolve) => (release = resolve));
  const first = new Promise<void>((resolve) => (came = resolve));
  const batch = async (documents: readonly Document[]) => {
    came();
    await released;
    return documents.map(() => ({}));
  };
  return {
    release,
    first,
    input: {
      chain: [
        { enrich: { name: 'held', batch } },
        { chunk: { markdown: {} } },
        { embed: { static: { model: 'bundled' } } },
      ],
      limits: { elements: 2 },
    },
  };
}

const five = () => logOf(...Array.from({ length: 5 }, (_, n) => [document(`d${n}`, 1, `Page ${n}.`)]));

test('a drain finishes what is under way, takes nothing more, and the next run does the rest', async () => {
  const bed = await openBed();
  const { release, first, input } = held();
  const log = five();
  const stop = new AbortController();
  const running = bed.run({ source: log, input, signal: stop.signal });
  await first;
  stop.abort();
  release();
  expect((await running).end).toBe('drained');
  const done = outcomes(log);
  expect(done.length).toBeGreaterThanOrEqual(1);
  expect(done.length).toBeLessThanOrEqual(2);
  expect((await bed.content()).chunks).toHaveLength(done.length);
  const rest = five();
  expect((await bed.run({ source: rest, input })).end).toBe('complete');
  expect(outcomes(rest).filter((kind) => kind === 'unchanged')).toHaveLength(done.length);
  expect((await bed.content()).chunks).toHaveLength(5);
});

test('a drain ends at its deadline, and an abort at once; neither settles what it cut off', async () => {
  const bed = await openBed();
  for (const how of ['deadline', 'abort'] as const) {
    const { first, input } = held();
    const log = five();
    const [drain, abort] = [new AbortController(), new AbortController()];
    const running = bed.run({
      source: log,
      input: { ...input, stopDeadlineMs: how === 'deadline' ? 50 : 60_000 },
      signal: drain.signal,
      abort: abort.signal,
    });
    await first;
    drain.abort();
    if (how === 'abort') abort.abort();
    expect(await running).toMatchObject({ end: 'aborted', outcomes: { stored: 0, failed: 0 } });
    expect(log.settled.size).toBe(0);
  }
  expect(await bed.failed()).toEqual([]);
});

test('a drain that comes before anything was read is a drain', async () => {
  const bed = await openBed();
  const stop = new AbortController();
  const summary = await bed.run({
    source: five(),
    signal: stop.signal,
    onEvent: ({ type }) => type === 'started' && stop.abort(),
  });
  expect(summary).toMatchObject({ end: 'drained', outcomes: { stored: 0 } });
});

test('a watching run takes in changes until it is drained', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.', 'b.md': 'Bees.' });
  const stop = new AbortController();
  const settled: string[] = [];
  const summary = await bed.run({
    watch: true,
    signal: stop.signal,
    input: { source: { files: { root: 'docs', pollMs: 50 } } },
    onEvent: (event) => {
      if (event.type === 'caught-up') void bed.write({ 'b.md': 'Bears.' });
      if (event.type !== 'settled') return;
      settled.push(`${event.documentId} ${event.outcome}`);
      if (settled.length === 3) stop.abort();
    },
  });
  expect(summary.end).toBe('drained');
  expect(settled.slice(0, 2).sort()).toEqual(['a.md stored', 'b.md stored']);
  expect(settled[2]).toBe('b.md stored');
  expect(await bed.texts('b.md')).toEqual(['Bears.']);
});

describe('millrace run, stopped by signals', () => {
  /** Documents in two deliveries, of which the second has to wait; `wait` is the body of the enrichment. */
  async function start(wait: string, more = ''): Promise<MillraceProcess & { readonly folder: string }> {
    const folder = await temporaryFolder();
    await writeFiles(
      folder,
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`docs/${n}.md`, `Page ${n}.`])),
    );
    await writeFile(
      join(folder, 'millrace.config.mjs'),
      `import { existsSync } from 'node:fs';
      export default {
        name: 'stop',
        source: { files: { root: 'docs' } },
        sink: { pglite: { path: 'store' } },
        failed: { files: { path: 'failed' } },
        workers: 1,
        limits: { elements: 4 },
        ${more}
        chain: [
          { enrich: { name: 'wait', batch: async (documents, signal) => {
            console.error('enriching');
            ${wait}
            return documents.map(() => ({}));
          } } },
          { chunk: { markdown: {} } },
          { embed: { static: { model: 'bundled' } } },
        ],
      };`,
    );
    const running = startMillrace(['run', 'millrace.config.mjs'], { cwd: folder });
    onTestFinished(() => void running.child.kill('SIGKILL'));
    await running.says('enriching');
    return { ...running, folder };
  }

  test('the first SIGTERM drains, and the exit code says that all under way was finished', async () => {
    const { child, ended, says, folder } = await start(
      `while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 10));`,
    );
    child.kill('SIGTERM');
    await says('stopping');
    await writeFile(join(folder, 'go'), '');
    const { code, signal, stdout, stderr } = await ended;
    expect([code, signal], stderr).toEqual([0, null]);
    expect(stdout).toContain('(drained)');
    const { chunks, unsound } = await readFolder(join(folder, 'store'), 'stop');
    expect(unsound).toEqual([]);
    expect(chunks).toHaveLength(256);
  });

  test('the second SIGTERM aborts, also where a function pays no heed, and the exit code is another', async () => {
    const { child, ended, says, folder } = await start(
      'setInterval(() => {}, 1_000); await new Promise(() => {});',
    );
    child.kill('SIGTERM');
    await says('stopping');
    child.kill('SIGTERM');
    const { code, signal, stderr } = await ended;
    expect([code, signal], stderr).toEqual([3, null]);
    expect((await readFolder(join(folder, 'store'), 'stop')).chunks).toEqual([]);
  });

  test('the deadline of the first SIGTERM aborts too', async () => {
    const { child, ended } = await start('await new Promise(() => {});', 'stopDeadlineMs: 100,');
    child.kill('SIGINT');
    expect((await ended).code).toBe(3);
  });
});
