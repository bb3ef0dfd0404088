import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { PipelineInput } from '../../src/config/schema.js';
import { listGenerations, withReindex, withRollback } from '../../src/runtime/generations/run-generations.js';
import { startRedis, type RedisService } from '../support/services/redis.js';
import { smallChunks, usePglite, type Bed } from './bed.js';

const openBed = usePglite();
vi.setConfig({ testTimeout: 120_000 });
let redis: RedisService;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const sentence = (of: string, n: number) =>
  `Sentence ${n} about ${of} says in a good many words that there is something to tell of it.`;
const text = (of: string) => [1, 2, 3].map((n) => sentence(of, n)).join('\n\n');
const animals = { 'ants.md': text('ants'), 'bees.md': text('bees'), 'cows.md': text('cows') };

/** A store that keeps what sources give. */
const keeping = (bed: Bed): Partial<PipelineInput> => ({
  sink: { pglite: { ...(bed.spec().sink.config as { path: string }), keepText: true } },
});
/** Puts a word before each text; the version stands for the word. */
const worded = (word: string): Partial<PipelineInput> => ({
  chain: [
    {
      enrich: {
        name: 'word',
        version: word,
        batch: async (documents) => documents.map(({ text }) => ({ text: `${word} ${text}` })),
      },
    },
    { chunk: { markdown: {} } },
    { embed: { static: { model: 'bundled' } } },
  ],
});
const contentOf = async (bed: Bed, ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const retriever = await bed.retriever(smallChunks);
      const found = await retriever.retrieve(id, { k: 100 });
      await retriever.close();
      return found.filter(({ documentId }) => documentId === id).map(({ text }) => text);
    }),
  );
const activeCount = async (bed: Bed) =>
  (await listGenerations(bed.spec(), { connectors })).find(({ state }) => state === 'active')!.count;

test('another chunk size is filled from kept texts, and a rollback takes over what was written since', async () => {
  const bed = await openBed();
  await bed.write(animals);
  const kept = keeping(bed);
  await bed.run({ input: kept });
  expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 3 });
  const finer = { ...kept, ...smallChunks };
  const summary = await bed.run({ input: { ...finer, generations: { onNewSpace: 'reindex' } } });
  // The texts came from the store, so the source had nothing new.
  expect(summary.outcomes).toMatchObject({ unchanged: 3, stored: 0 });
  expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 9 });
  const [bees] = await contentOf(bed, ['bees.md']);
  expect(bees!.map((one) => one.trim()).sort()).toEqual([1, 2, 3].map((n) => sentence('bees', n)));
  await bed.write({ 'bees.md': text('hives'), 'dogs.md': text('dogs') });
  await bed.run({ input: finer });
  await withRollback(bed.spec(finer), { connectors }, (reindex) => reindex.switch(0));
  expect(await activeCount(bed)).toEqual({ documents: 4, chunks: 4 });
  expect(await bed.texts('bees.md')).toEqual([text('hives')]);
});

test('another enrichment is filled from what the source gave, not from what the old one made of it', async () => {
  const bed = await openBed();
  await bed.write(animals);
  const kept = keeping(bed);
  await bed.run({ input: { ...kept, ...worded('old') } });
  await bed.run({ input: { ...kept, ...worded('new'), generations: { onNewSpace: 'reindex' } } });
  const retriever = await bed.retriever({ ...kept, ...worded('new') });
  const hits = await retriever.retrieve('ants', { k: 10 });
  expect(hits.map(({ text }) => text).sort()).toEqual(Object.values(animals).map((one) => `new ${one}`));
  await retriever.close();
});

test('without kept texts another chunk size is refused with both ways, and filled from the source beside the writers', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  const open = (fromSource: boolean) =>
    withReindex(bed.spec(smallChunks), { connectors, fromSource }, async (reindex) => {
      expect(await reindex.fill()).toMatchObject({ documents: 3 });
      // The old generation is written on: a change, a deletion, and a new document.
      await bed.write({ 'ants.md': text('termites'), 'dogs.md': text('dogs') });
      await bed.remove('cows.md');
      await bed.run();
      expect(await bed.texts('ants.md')).toEqual([text('termites')]);
      await reindex.switch(0);
    });
  await expect(open(false)).rejects.toMatchObject({
    code: 'artifact_mismatch',
    hint: expect.stringMatching(/--from-source.*keepText/) as string,
  });
  await open(true);
  expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 9 });
  const [ants, cows] = await contentOf(bed, ['ants.md', 'cows.md']);
  expect(ants).toHaveLength(3);
  expect(ants!.join()).toContain('termites');
  expect(cows).toEqual([]);
  expect((await bed.run({ input: smallChunks })).outcomes).toMatchObject({ unchanged: 3 });
});

test('a document that neither store nor source has is named, and keeps the generation from becoming the active one', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  await bed.remove('cows.md');
  const switched = withReindex(bed.spec(smallChunks), { connectors, fromSource: true }, async (reindex) => {
    expect([...(await reindex.fill()).refused.keys()]).toEqual(['cows.md']);
    return reindex.switch(0);
  });
  await expect(switched).rejects.toMatchObject({
    code: 'generation_refused',
    message: expect.stringContaining('cows.md') as string,
  });
  // A run that finds it gone tells the generation too.
  await bed.run();
  await withReindex(bed.spec(smallChunks), { connectors }, (reindex) => reindex.switch(0));
  expect(await activeCount(bed)).toEqual({ documents: 2, chunks: 6 });
});

test('of a stream the source is what it ever held: one that was trimmed is refused', async () => {
  const bed = await openBed();
  const source: PipelineInput['source'] = { redis: { url: redis.url, stream: 'animals' } };
  const add = (...fields: string[]) => redis.client.xadd('animals', '*', ...fields);
  await add('id', 'ants', 'text', text('ants'));
  await add('id', 'bees', 'text', text('bees'));
  await add('id', 'ants', 'text', text('termites'));
  await add('id', 'cows', 'text', text('cows'));
  await add('id', 'cows', 'op', 'delete');
  await bed.run({ input: { source }, watch: false });
  await withReindex(bed.spec({ source, ...smallChunks }), { connectors, fromSource: true }, (reindex) =>
    reindex.switch(0),
  );
  expect(await activeCount(bed)).toEqual({ documents: 2, chunks: 6 });
  expect((await contentOf(bed, ['ants']))[0]!.join()).toContain('termites');

  const other = await openBed();
  await other.run({ input: { source }, watch: false });
  await redis.client.xtrim('animals', 'MAXLEN', 4);
  const trimmed = withReindex(
    other.spec({ source, ...smallChunks }),
    { connectors, fromSource: true },
    (reindex) => reindex.fill(),
  );
  await expect(trimmed).rejects.toMatchObject({ code: 'source_gap' });
});
