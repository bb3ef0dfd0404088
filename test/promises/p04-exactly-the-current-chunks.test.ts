import { expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { checkPipeline } from '../../src/runtime/check.js';
import { deletion, document, logOf, paragraphs, smallChunks, usePglite } from './bed.js';

const openBed = usePglite();

test('ten chunks, then three, then none', async () => {
  const bed = await openBed();
  const ten = paragraphs(10);
  await bed.run({ input: smallChunks, source: logOf([document('a', 1, ten.join('\n\n'))]) });
  expect(await bed.texts('a')).toEqual(ten);
  const three = [ten[7]!, ten[2]!, 'A new last paragraph.'];
  await bed.run({ input: smallChunks, source: logOf([document('a', 2, three.join('\n\n'))]) });
  expect(await bed.texts('a')).toEqual(three);
  await bed.run({ input: smallChunks, source: logOf([deletion('a', 3)]) });
  const { chunks, ledger, unsound } = await bed.content();
  expect(chunks).toEqual([]);
  expect(unsound).toEqual([]);
  expect(ledger).toMatchObject([{ documentId: 'a', state: 'deleted', chunkCount: 0 }]);
});

test('a document that became blank is stored with no chunks', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([document('a', 1, 'ants')]) });
  const summary = await bed.run({ source: logOf([document('a', 2, ' \n\t\n')]) });
  expect(summary).toMatchObject({ chunks: 0, outcomes: { stored: 1 } });
  expect(await bed.content()).toMatchObject({ chunks: [], ledger: [{ state: 'stored', chunkCount: 0 }] });
});

test('a query while a document is replaced, and after the replacement failed, finds all of the old version', async () => {
  const bed = await openBed();
  const old = paragraphs(40, 'old');
  await bed.run({ input: smallChunks, source: logOf([document('a', 1, old.join('\n\n'))]) });
  const before = await bed.content();
  const reader = await bed.retriever(smallChunks);
  const fresh = document('a', 2, paragraphs(60, 'new').join('\n\n'));
  const during: number[] = [];
  await expect(
    bed.run({
      input: smallChunks,
      source: logOf([fresh]),
      faults: {
        store: (store) => ({
          ...store,
          sink: {
            ...store.sink,
            write: async () => {
              // Everything is embedded by now, and nothing of the old version may be gone.
              during.push((await reader.retrieve('Paragraph of the old', { k: 100 })).length);
              throw new MillraceError('store_layout', 'The second batch failed.');
            },
          },
        }),
      },
    }),
  ).rejects.toMatchObject({ code: 'store_layout' });
  expect(during).toEqual([40]);
  expect((await bed.content()).chunks).toEqual(before.chunks);
  await bed.run({ input: smallChunks, source: logOf([fresh]) });
  expect(await reader.retrieve('Paragraph of the old', { k: 100 })).toHaveLength(60);
  await reader.close();
});

test('a check before, between and after runs of one process changes nothing: updates still remove what they replace', async () => {
  const bed = await openBed();
  const check = async () => {
    for await (const finding of checkPipeline(bed.spec(smallChunks), connectors))
      expect(finding.error, finding.part).toBeUndefined();
  };
  const pages = paragraphs(4);
  await bed.write({ 'a.md': pages.join('\n\n') });
  await check();
  expect(await bed.content()).toMatchObject({ chunks: [], ledger: [] });
  await bed.run({ input: smallChunks });
  await bed.write({ 'a.md': pages[2]! });
  await check();
  expect(await bed.texts('a.md')).toEqual(pages);
  expect((await bed.run({ input: smallChunks })).outcomes).toMatchObject({ stored: 1 });
  expect(await bed.texts('a.md')).toEqual([pages[2]]);
  await bed.remove('a.md');
  await check();
  expect((await bed.run({ input: smallChunks })).outcomes).toMatchObject({ deleted: 1 });
});

test('a deleted file takes its chunks along', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.', 'sub/b.md': 'Bees.' });
  await bed.run();
  await bed.remove('sub/b.md');
  expect((await bed.run()).outcomes).toMatchObject({ unchanged: 1, deleted: 1 });
  const { chunks, unsound } = await bed.content();
  expect(chunks.map(({ documentId }) => documentId)).toEqual(['a.md']);
  expect(unsound).toEqual([]);
});

test('implausibly many vanished files stop the run with nothing deleted, unless it is allowed', async () => {
  const bed = await openBed();
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}.md`, `Page ${n}.`]));
  await bed.write(files);
  await bed.run();
  for (const path of Object.keys(files).slice(0, 22)) await bed.remove(path);
  await expect(bed.run()).rejects.toMatchObject({ code: 'mass_deletion' });
  expect((await bed.content()).chunks).toHaveLength(30);
  expect((await bed.run({ allowMassDeletion: true })).outcomes).toMatchObject({ deleted: 22 });
  expect((await bed.content()).chunks).toHaveLength(8);
});
