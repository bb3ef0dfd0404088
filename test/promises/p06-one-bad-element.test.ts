import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Document } from '../../src/elements/document.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { document, logOf, outcomes, usePglite } from './bed.js';

const openBed = usePglite();

/** A chain whose enrichment is this function. */
function enriching(batch: (documents: readonly Document[]) => Promise<readonly (object | Error)[]>) {
  return {
    chain: [
      { enrich: { name: 'test', batch } },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
}

test('a document that spoils its whole batch is found by splitting, and its neighbours are stored', async () => {
  const bed = await openBed();
  const log = logOf(
    Array.from({ length: 60 }, (_, n) => document(`d${n}`, 1, n === 0 ? 'poison' : `Page ${n}.`)),
  );
  const input = enriching(async (documents) => {
    if (documents.some(({ text }) => text === 'poison')) throw new Error('The whole batch fell over.');
    return documents.map(() => ({}));
  });
  // The poison comes first, and comes again: it is not taken for an outage.
  for (let round = 1; round <= 2; round += 1) {
    const summary = await bed.run({ source: log, input });
    expect(summary.outcomes).toMatchObject({ failed: 1 });
    expect(outcomes(log).filter((kind) => kind === 'failed')).toHaveLength(1);
    expect((await bed.content()).chunks).toHaveLength(59);
  }
  expect(await bed.failed()).toMatchObject([
    { documentId: 'd0', attempts: 2, error: { code: 'transform_failed' } },
  ]);
});

test('an outage that a function of the chain reports is waited out, not turned into failures', async () => {
  const bed = await openBed();
  let calls = 0;
  const log = logOf([document('a', 1, 'ants'), document('b', 1, 'bees')]);
  const summary = await bed.run({
    source: log,
    input: enriching(async (documents) => {
      calls += 1;
      if (calls === 1) throw new MillraceError('remote_unavailable', 'The directory does not answer.');
      return documents.map(() => ({ metadata: { team: 'search' } }));
    }),
  });
  expect(summary.outcomes).toMatchObject({ stored: 2, failed: 0 });
  expect((await bed.content()).chunks.map(({ metadata }) => metadata)).toEqual([
    { team: 'search' },
    { team: 'search' },
  ]);
});

test('what the store cannot hold fails alone: an id too long for it', async () => {
  const bed = await openBed();
  const id = 'x'.repeat(3_000);
  const log = logOf([document('a', 1, 'ants'), document(id, 1, 'bees'), document('c', 1, 'cows')]);
  await bed.run({ source: log });
  expect(outcomes(log)).toEqual(['stored', 'failed', 'stored']);
  expect(await bed.failed()).toMatchObject([
    { documentId: id, stage: 'store', error: { code: 'store_refused' } },
  ]);
});

test('files that cannot be read as text fail with a reason, and the rest goes on', async () => {
  const bed = await openBed();
  await bed.write({
    'good.md': 'Ants.',
    'lines.jsonl': '{"id":"one","text":"Bees."}\n{broken\n{"id":"two","text":"Cows."}\n',
    'big.md': 'x'.repeat(5_000),
  });
  await symlink(join(bed.folder, 'nowhere'), join(bed.folder, 'docs/dangling.md'));
  const { writeFile } = await import('node:fs/promises');
  await writeFile(join(bed.folder, 'docs/latin.md'), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  const summary = await bed.run({ input: { limits: { maxItemBytes: 4_000 } } });
  expect(summary.outcomes).toMatchObject({ stored: 3, failed: 3 });
  const codes = (await bed.failed())
    .map(({ documentId, error }) => [documentId.slice(0, 5), error.code])
    .sort();
  expect(codes).toEqual([
    ['big.m', 'item_too_large'],
    ['latin', 'item_malformed'],
    ['lines', 'item_malformed'],
  ]);
});

test('a text that an enrichment made blank makes no chunk and no failure', async () => {
  const bed = await openBed();
  const log = logOf([document('a', 1, '> quoted'), document('b', 1, 'bees')]);
  const summary = await bed.run({
    source: log,
    input: enriching(async (documents) =>
      documents.map(({ text }) => ({ text: text.replace(/^>.*$/gm, '') })),
    ),
  });
  expect(summary).toMatchObject({ embedded: 1, outcomes: { stored: 2, failed: 0 } });
  expect((await bed.content()).chunks.map(({ text }) => text)).toEqual(['bees']);
});
