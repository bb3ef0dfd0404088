import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { PipelineInput } from '../../src/config/schema.js';
import { listGenerations, withReindex, withRollback } from '../../src/runtime/generations/run-generations.js';
import type { Retriever } from '../../src/retrieval/retriever.js';
import { smallChunks, type Bed } from '../promises/bed.js';
import { startRedis, type RedisService } from '../support/services/redis.js';

export interface OtherTextsHarness {
  openBed(): Promise<Bed>;
  /** The store of a bed. @param keepText it keeps what sources give; default: as it was told last */
  sink(bed: Bed, keepText?: true): PipelineInput['sink'];
}

const sentence = (of: string, n: number) =>
  `Sentence ${n} about ${of} says in a good many words that there is something to tell of it.`;
const text = (of: string) => [1, 2, 3].map((n) => sentence(of, n)).join('\n\n');
const animals = { 'ants.md': text('ants'), 'bees.md': text('bees'), 'cows.md': text('cows') };

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

/** Where a store keeps what sources gave: a generation of other chunks, or of other enrichment, is filled from it. */
export function otherTextsSuite(name: string, { openBed, sink }: OtherTextsHarness): void {
  describe(`other texts: ${name}`, { timeout: 120_000 }, () => {
    let redis: RedisService;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    /** Texts of a document's chunks, sorted. */
    const textsOf = async (bed: Bed, input: Partial<PipelineInput>, id: string) => {
      const retriever = await bed.retriever(input);
      const found = await retriever.retrieve(id, { k: 100 });
      await retriever.close();
      return found.flatMap(({ documentId, text }) => (documentId === id ? [text.trim()] : [])).sort();
    };
    const activeCount = async (bed: Bed) => {
      const found = await listGenerations(bed.spec({ sink: sink(bed) }), { connectors });
      return found.find(({ state }) => state === 'active')!.count;
    };

    it('another chunk size is filled from kept texts, and a rollback takes over what was written since', async () => {
      const bed = await openBed();
      await bed.write(animals);
      const kept = { sink: sink(bed, true) };
      await bed.run({ input: kept });
      expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 3 });
      const finer = { ...kept, ...smallChunks };
      const summary = await bed.run({ input: { ...finer, generations: { onNewSpace: 'reindex' } } });
      // The texts came from the store, so the source had nothing new.
      expect(summary.outcomes).toMatchObject({ unchanged: 3, stored: 0 });
      expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 9 });
      expect(await textsOf(bed, finer, 'bees.md')).toEqual([1, 2, 3].map((n) => sentence('bees', n)));
      await bed.write({ 'bees.md': text('hives'), 'dogs.md': text('dogs') });
      await bed.run({ input: finer });
      await withRollback(bed.spec(finer), { connectors }, (reindex) => reindex.switch(0));
      expect(await activeCount(bed)).toEqual({ documents: 4, chunks: 4 });
      expect(await textsOf(bed, kept, 'bees.md')).toEqual([text('hives')]);
    });

    it('another model takes along what was kept, so that another chunk size can follow', async () => {
      const bed = await openBed();
      await bed.write(animals);
      const kept: Partial<PipelineInput> = { sink: sink(bed, true), generations: { onNewSpace: 'reindex' } };
      await bed.run({ input: kept });
      const embed = { embed: { static: { model: 'bundled', prompts: { document: 'passage: ' } } } };
      await bed.run({ input: { ...kept, chain: [{ chunk: { markdown: {} } }, embed] } });
      await bed.write({ 'bees.md': text('hives') });
      const chain = [{ chunk: { recursive: { maxTokens: 24 } } }, embed];
      const { outcomes } = await bed.run({ input: { ...kept, chain } });
      expect(outcomes).toMatchObject({ unchanged: 2, stored: 1 });
      expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 9 });
      expect(await textsOf(bed, { ...kept, chain }, 'ants.md')).toEqual(
        [1, 2, 3].map((n) => sentence('ants', n)),
      );
    });

    it('another enrichment is filled from what the source gave, not from what the old one made of it', async () => {
      const bed = await openBed();
      await bed.write(animals);
      const kept = { sink: sink(bed, true) };
      await bed.run({ input: { ...kept, ...worded('old') } });
      await bed.run({ input: { ...kept, ...worded('new'), generations: { onNewSpace: 'reindex' } } });
      const retriever = await bed.retriever({ ...kept, ...worded('new') });
      const hits = await retriever.retrieve('ants', { k: 10 });
      expect(hits.map(({ text }) => text).sort()).toEqual(Object.values(animals).map((one) => `new ${one}`));
      await retriever.close();
    });

    it('without kept texts another chunk size is refused with both ways, and filled from the source beside the writers', async () => {
      const bed = await openBed();
      await bed.write(animals);
      const input = { sink: sink(bed) };
      const finer = { ...input, ...smallChunks };
      await bed.run({ input });
      const open = (fromSource: boolean) =>
        withReindex(bed.spec(finer), { connectors, fromSource }, async (reindex) => {
          expect(await reindex.fill()).toMatchObject({ documents: 3 });
          // The old generation is written on: a change, a deletion, and a new document.
          await bed.write({ 'ants.md': text('termites'), 'dogs.md': text('dogs') });
          await bed.remove('cows.md');
          await bed.run({ input });
          expect(await textsOf(bed, input, 'ants.md')).toEqual([text('termites')]);
          await reindex.switch(0);
        });
      await expect(open(false)).rejects.toMatchObject({
        code: 'artifact_mismatch',
        hint: expect.stringMatching(/--from-source.*keepText/) as string,
      });
      await open(true);
      expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 9 });
      expect(await textsOf(bed, finer, 'ants.md')).toEqual([1, 2, 3].map((n) => sentence('termites', n)));
      expect(await textsOf(bed, finer, 'cows.md')).toEqual([]);
      expect((await bed.run({ input: finer })).outcomes).toMatchObject({ unchanged: 3 });
      // What is kept meanwhile serves the way back too.
      await bed.write({ 'bees.md': text('hives') });
      await bed.run({ input: finer });
      await withRollback(bed.spec(finer), { connectors }, (reindex) => reindex.switch(0));
      expect(await activeCount(bed)).toEqual({ documents: 3, chunks: 3 });
      expect(await textsOf(bed, input, 'bees.md')).toEqual([text('hives')]);
    });

    it('a document that neither store nor source has is named, and keeps the generation from becoming the active one', async () => {
      const bed = await openBed();
      await bed.write(animals);
      const input = { sink: sink(bed) };
      const finer = bed.spec({ ...input, ...smallChunks });
      await bed.run({ input });
      await bed.remove('cows.md');
      const switched = withReindex(finer, { connectors, fromSource: true }, (reindex) => reindex.switch(0));
      await expect(switched).rejects.toMatchObject({
        code: 'generation_refused',
        message: expect.stringContaining('cannot take over 1 document; the first is "cows.md"') as string,
      });
      // A run that finds it gone tells the generation too.
      await bed.run({ input });
      await withReindex(finer, { connectors }, (reindex) => reindex.switch(0));
      expect(await activeCount(bed)).toEqual({ documents: 2, chunks: 6 });
    });

    it('documents of a stream are enriched anew from what is kept, and what comes by the stream wins', async () => {
      const bed = await openBed();
      const add = (...fields: string[]) => redis.client.xadd('notes', '*', 'id', 'a', ...fields);
      await redis.client.hset('author:fay', { team: 'docs' });
      await add('text', 'A note on mills.', 'author', 'fay');
      const lookup = { redis: { url: redis.url, pattern: 'author:{key}', key: 'author' } };
      const input: Partial<PipelineInput> = {
        source: { redis: { url: redis.url, stream: 'notes' } },
        sink: sink(bed, true),
        chain: [
          { enrich: { ...lookup, refreshEvery: '300ms' } },
          { chunk: { markdown: {} } },
          { embed: { static: { model: 'bundled' } } },
        ],
      };
      const stop = new AbortController();
      const running = bed.run({ input, signal: stop.signal });
      let retriever: Retriever | undefined;
      const found = async () => {
        // Until the run has prepared the store there is nothing to be asked.
        retriever ??= await bed.retriever(input).catch(() => undefined);
        return (await retriever?.retrieve('mills', { k: 5 }))?.map(({ metadata }) => metadata['team']);
      };
      await expect.poll(found, { timeout: 30_000 }).toEqual(['docs']);
      await redis.client.hset('author:fay', { team: 'sales' });
      await expect.poll(found, { timeout: 30_000 }).toEqual(['sales']);
      await add('op', 'delete');
      await expect.poll(found, { timeout: 30_000 }).toEqual([]);
      await redis.client.hset('author:fay', { team: 'none' });
      await add('text', 'Another note on mills.', 'author', 'fay');
      await expect.poll(found, { timeout: 30_000 }).toEqual(['none']);
      stop.abort();
      expect((await running).outcomes.failed).toBe(0);
      await retriever!.close();
    });

    it('of a stream the source is what it ever held: one that was trimmed is refused', async () => {
      const bed = await openBed();
      const source: PipelineInput['source'] = { redis: { url: redis.url, stream: 'animals' } };
      const add = (...fields: string[]) => redis.client.xadd('animals', '*', ...fields);
      await add('id', 'ants', 'text', text('ants'));
      await add('id', 'bees', 'text', text('bees'));
      await add('id', 'ants', 'text', text('termites'));
      await add('id', 'cows', 'text', text('cows'));
      await add('id', 'cows', 'op', 'delete');
      await bed.run({ input: { source, sink: sink(bed) }, watch: false });
      const finer = { source, sink: sink(bed), ...smallChunks };
      await withReindex(bed.spec(finer), { connectors, fromSource: true }, (reindex) => reindex.switch(0));
      expect(await activeCount(bed)).toEqual({ documents: 2, chunks: 6 });
      expect(await textsOf(bed, finer, 'ants')).toEqual([1, 2, 3].map((n) => sentence('termites', n)));

      const other = await openBed();
      await other.run({ input: { source, sink: sink(other) }, watch: false });
      await redis.client.xtrim('animals', 'MAXLEN', 4);
      const trimmed = withReindex(
        other.spec({ source, sink: sink(other), ...smallChunks }),
        { connectors, fromSource: true },
        (reindex) => reindex.fill(),
      );
      await expect(trimmed).rejects.toMatchObject({ code: 'source_gap' });
    });
  });
}
