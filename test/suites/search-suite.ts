import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Filter } from '../../src/contracts/chunk-search.js';
import type { Store } from '../../src/contracts/store.js';
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
    const find = async (filter?: Filter, k = 100) => {
      const hits = await store.search.search({
        space,
        vector: vectorOf('q'),
        k,
        ...(filter ? { filter } : {}),
      });
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

    describe('filter', () => {
      beforeEach(async () => {
        await add('en', { lang: 'en', meta: { year: 2020, deep: { flag: true } }, tags: ['x', 'y'] });
        await add('de', { lang: 'de', meta: { year: 2021, deep: { flag: false } }, tags: [] });
        await add('text-year', { lang: 'EN', meta: { year: '2020' }, tags: 'x' });
        await add('none', { lang: null, meta: {} });
        await add('odd', { 'o\'dd "key"': 1, 'a%': '_', empty: '' });
      });

      it('asks for one value or any of several', async () => {
        expect(await find({ lang: 'en' })).toEqual(['en']);
        expect(await find({ lang: ['en', 'de'] })).toEqual(['de', 'en']);
        expect(await find({ lang: [] })).toEqual([]);
        expect(await find({ lang: 'fr' })).toEqual([]);
      });

      it('asks for all conditions at once', async () => {
        expect(await find({ lang: ['en', 'de'], 'meta.year': 2021 })).toEqual(['de']);
        expect(await find({ lang: 'en', 'meta.year': 2021 })).toEqual([]);
        expect(await find({})).toHaveLength(5);
      });

      it('reaches into objects by dots', async () => {
        expect(await find({ 'meta.deep.flag': true })).toEqual(['en']);
        expect(await find({ 'meta.deep.flag': [true, false] })).toEqual(['de', 'en']);
        expect(await find({ 'meta.deep': true })).toEqual([]);
      });

      it('tells numbers from strings, and cases apart', async () => {
        expect(await find({ 'meta.year': 2020 })).toEqual(['en']);
        expect(await find({ 'meta.year': '2020' })).toEqual(['text-year']);
        expect(await find({ 'meta.year': [2020, '2020'] })).toEqual(['en', 'text-year']);
        expect(await find({ lang: 'EN' })).toEqual(['text-year']);
      });

      it('finds a value among the elements of a list', async () => {
        expect(await find({ tags: 'x' })).toEqual(['en', 'text-year']);
        expect(await find({ tags: ['y', 'z'] })).toEqual(['en']);
      });

      it('tells a null from a missing key', async () => {
        expect(await find({ lang: null })).toEqual(['none']);
        expect(await find({ missing: null })).toEqual([]);
        expect(await find({ lang: [null, 'de'] })).toEqual(['de', 'none']);
      });

      it('takes keys and values with any characters', async () => {
        expect(await find({ 'o\'dd "key"': 1 })).toEqual(['odd']);
        expect(await find({ 'a%': '_' })).toEqual(['odd']);
        expect(await find({ empty: '' })).toEqual(['odd']);
        expect(await find({ lang: "en' or true --" })).toEqual([]);
      });
    });
  });
}
