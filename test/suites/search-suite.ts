import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/contracts/store.js';
import type { Filter } from '../../src/elements/filter/filter.js';
import { readFilter } from '../../src/elements/filter/read-filter.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { layout, space, storing, vectorOf, width } from './store-samples.js';

/** What every chunk search does. */
export function searchSuite(name: string, openHarness: OpenHarness): void {
  describe(`search: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;
    let count = 0;

    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      store = await harness.open(`search-${count++}`);
      await store.prepare(layout);
    }, patience);

    const add = async (id: string, metadata: Metadata, vector = vectorOf(id)) => {
      const [result] = await store.sink.write([storing(id, 1, [id], { metadata, vector })]);
      expect(result!.kind).toBe('done');
    };
    const find = async (filter: Filter | undefined, k: number) => {
      const hits = await store.search.search({ space, vector: vectorOf('q'), k, filter: readFilter(filter) });
      return hits.map(({ documentId }) => documentId).sort();
    };

    it('ranks by cosine, best first, whatever the length of a vector', async () => {
      await add('same', {}, Float32Array.of(10, 0, 0, 0));
      await add('near', {}, Float32Array.of(0.9, 0.1, 0, 0));
      await add('across', {}, Float32Array.of(0, 5, 0, 0));
      await add('opposite', {}, Float32Array.of(-1, 0, 0, 0));
      const hits = await store.search.search({ space, vector: Float32Array.of(2, 0, 0, 0), k: 10 });
      expect(hits.map(({ documentId }) => documentId)).toEqual(['same', 'near', 'across', 'opposite']);
      expect(hits[0]!.score).toBeCloseTo(1, 5);
      expect(hits[2]!.score).toBeCloseTo(0, 5);
      expect(hits[3]!.score).toBeCloseTo(-1, 5);
    });

    it('gives exactly k while k match, and all when fewer do', async () => {
      const writes = Array.from({ length: 30 }, (_, i) =>
        storing(`d-${i}`, 1, [`text ${i}`], { metadata: { even: i % 2 === 0 } }),
      );
      await store.sink.write(writes);
      for (const k of [1, 7, 15]) expect(await find({ even: true }, k)).toHaveLength(k);
      expect(await find({ even: true }, 16)).toHaveLength(15);
      expect(await find(undefined, 1000)).toHaveLength(30);
    });

    it('puts the lower chunk id first among equal scores', async () => {
      const vector = Float32Array.of(1, 2, 3, 4);
      await store.sink.write(
        Array.from({ length: 20 }, (_, i) => storing(`d-${i}`, 1, [`text ${i}`], { vector })),
      );
      const all = (await store.search.search({ space, vector, k: 20 })).map(({ chunkId }) => chunkId);
      expect(all).toEqual([...all].sort());
      const five = (await store.search.search({ space, vector, k: 5 })).map(({ chunkId }) => chunkId);
      expect(five).toEqual(all.slice(0, 5));
    });

    it('gives the chunks of a document by their ordinals, in their order', async () => {
      const texts = Array.from({ length: 30 }, (_, at) => `text ${at}`);
      await store.sink.write([
        storing('a', 1, texts),
        storing('b', 1, ['only'], { metadata: { lang: 'en' } }),
      ]);
      const [middle, end, all, none, unknown, single] = await store.search.chunks([
        { documentId: 'a', first: 9, last: 12 },
        { documentId: 'a', first: 28, last: 40 },
        { documentId: 'a', first: -1, last: Infinity },
        { documentId: 'a', first: 30, last: 40 },
        { documentId: 'c', first: 0, last: 5 },
        { documentId: 'b', first: 0, last: 0 },
      ]);
      expect(middle!.map(({ text }) => text)).toEqual(texts.slice(9, 13));
      expect(end!.map(({ ordinal }) => ordinal)).toEqual([28, 29]);
      expect(all!.map(({ text }) => text)).toEqual(texts);
      expect([none, unknown]).toEqual([[], []]);
      const [hit] = await store.search.search({ space, vector: vectorOf('only'), k: 1 });
      const { score: _, ...chunk } = hit!;
      expect(single).toEqual([chunk]);
      expect(await store.search.chunks([])).toEqual([]);
    });

    it('refuses vectors that cannot be compared, and a k below 1', async () => {
      await add('a', {});
      const search = (vector: Float32Array, k = 1) => store.search.search({ space, vector, k });
      await expect(search(Float32Array.of(1, 2))).rejects.toMatchObject({ code: 'embedding_invalid' });
      await expect(search(Float32Array.of(1, NaN, 1, 1))).rejects.toMatchObject({
        code: 'embedding_invalid',
      });
      await expect(search(new Float32Array(width))).rejects.toMatchObject({ code: 'embedding_invalid' });
      await expect(search(vectorOf('q'), 0)).rejects.toMatchObject({ code: 'config_invalid' });
    });
  });
}
