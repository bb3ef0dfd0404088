import { expect, test } from 'vitest';
import type { SourceFactory } from '../../../src/contracts/source.js';
import { connectors } from '../../../connectors/registry.js';
import { auditPipeline } from '../../../src/runtime/audit/audit.js';
import { readWhole } from '../../../src/runtime/audit/read-whole.js';
import { usePglite, type Bed } from '../../promises/bed.js';
import { spoil } from './spoil.js';

const openBed = usePglite();

function audit(bed: Bed, options: { repair?: boolean; allowMassDeletion?: boolean } = {}, input = {}) {
  return auditPipeline(bed.spec(input), {
    connectors,
    repair: false,
    signal: new AbortController().signal,
    ...options,
  });
}

const found = ({ differences }: Awaited<ReturnType<typeof audit>>) =>
  differences.map(({ kind, documentId }) => `${kind} ${documentId}`).sort();

const files = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [`page-${at}.md`, `# Page ${at}\n\nAnts ${at}.`]),
);

test('a store that is equal to its source is told so, and what failed is told apart', async () => {
  const bed = await openBed();
  await bed.write({ ...files, 'lines.jsonl': '{"id": "a", "text": "ants"}\n{"id": "b"}\n' });
  await bed.run();
  const report = await audit(bed);
  expect(report).toMatchObject({ inSource: 32, stored: 31, comparedContent: true });
  expect(found(report)).toEqual(['failed lines.jsonl/b']);
});

test('what is missing, stale and orphaned is found, and a repair mends it without touching the rest', async () => {
  const bed = await openBed();
  await bed.write(files);
  await bed.run();
  const before = await bed.content();
  await spoil(
    bed,
    "delete from millrace.chunks where $P and document_id = 'page-1.md'",
    "delete from millrace.ledger where $P and document_id = 'page-1.md'",
    "update millrace.ledger set content_hash = 'other' where $P and document_id = 'page-2.md'",
    "delete from millrace.chunks where $P and document_id = 'page-4.md'",
    "update millrace.ledger set state = 'deleted', content_hash = null, chain_digest = null, chunk_count = 0 where $P and document_id = 'page-4.md'",
  );
  await bed.remove('page-3.md');
  const expected = ['missing page-1.md', 'missing page-4.md', 'orphaned page-3.md', 'stale page-2.md'];
  expect(found(await audit(bed))).toEqual(expected);
  const repaired = await audit(bed, { repair: true });
  expect(found(repaired)).toEqual(expected);
  expect(repaired.repair?.outcomes).toMatchObject({ stored: 3, deleted: 1, failed: 0 });
  expect(found(await audit(bed))).toEqual([]);
  const without = before.chunks.filter(({ documentId }) => documentId !== 'page-3.md');
  expect((await bed.content()).chunks).toEqual(without);
  // The next pass finds nothing to do.
  expect((await bed.run()).embedded).toBe(0);
});

test('a change that is on its way is no difference, and a repair does not undo it', async () => {
  const bed = await openBed();
  await bed.write(files);
  await bed.run();
  await bed.write({ 'page-5.md': '# Page 5\n\nChanged.' });
  expect(found(await audit(bed))).toEqual(['stale page-5.md']);
  // Between the comparison and the repair another process brings in a newer change, which the repair has not read.
  let readings = 0;
  const connector = connectors['files']!;
  const open = await connector.source!.load();
  const racing: SourceFactory<never> = async (config, context) => {
    readings += 1;
    // The fourth reading is that of the repair.
    if (readings !== 4) return open(config, context);
    await bed.write({ 'page-5.md': '# Page 5\n\nNewest.' });
    await bed.run();
    await bed.write({ 'page-5.md': '# Page 5\n\nChanged.' });
    return open(config, context);
  };
  const source = { ...connector.source!, load: () => Promise.resolve(racing) };
  const report = await auditPipeline(bed.spec(), {
    ...{ connectors: { ...connectors, files: { ...connector, source } }, repair: true },
    signal: new AbortController().signal,
  });
  expect(readings).toBe(4);
  expect(report.repair?.outcomes).toMatchObject({ stale: 1, stored: 0 });
  expect(await bed.texts('page-5.md')).toEqual([expect.stringContaining('Newest')]);
});

test('a repair that would empty the store is refused unless it is allowed', async () => {
  const bed = await openBed();
  await bed.write(files);
  await bed.run();
  for (const path of Object.keys(files).slice(0, 25)) await bed.remove(path);
  await expect(audit(bed, { repair: true })).rejects.toMatchObject({ code: 'mass_deletion' });
  expect((await bed.content()).chunks).toHaveLength(30);
  await audit(bed, { repair: true, allowMassDeletion: true });
  expect((await bed.content()).chunks).toHaveLength(5);
});

test('where a step changes documents only their presence is compared', async () => {
  const bed = await openBed();
  await bed.write(files);
  const input = {
    chain: [
      {
        enrich: {
          name: 'team',
          batch: (documents: readonly unknown[]) =>
            Promise.resolve(documents.map(() => ({ metadata: { team: 'core' } }))),
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  await bed.run({ input });
  await bed.remove('page-3.md');
  await bed.write({ 'page-5.md': '# Page 5\n\nChanged.' });
  const report = await audit(bed, {}, input);
  expect([report.comparedContent, ...found(report)]).toEqual([false, 'orphaned page-3.md']);
});

test('a source that keeps no whole is refused, with what can be audited', async () => {
  const source = { name: 'log', endless: true, deliveries: () => expect.unreachable('nothing is read') };
  const signal = new AbortController().signal;
  const reading = readWhole(source, { signal, maxItemBytes: 1000, onScope: () => undefined });
  await expect(reading.next()).rejects.toMatchObject({
    code: 'config_invalid',
    hint: expect.stringContaining('Files and tables') as string,
  });
});
