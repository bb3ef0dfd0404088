import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Filter } from '../../src/elements/filter/filter.js';
import { readFilter } from '../../src/elements/filter/read-filter.js';
import type { Store } from '../../src/contracts/store.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { matches } from './filter-reference.js';
import { anyFilter, anyMetadata } from './filter-samples.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { kinds, layout, space, storing, vectorOf } from './store-samples.js';

/** What a filter means, the same on every store. */
export function filterSuite(name: string, openHarness: OpenHarness): void {
  describe(`filter: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;

    const documents: Readonly<Record<string, Metadata>> = {
      en: { lang: 'en', meta: { year: 2020, deep: { flag: true } }, tags: ['x', 'y'] },
      de: { lang: 'de', meta: { year: 2021, deep: { flag: false } }, tags: [] },
      'text-year': { lang: 'EN', meta: { year: '2020' }, tags: 'x' },
      none: { lang: null, meta: {} },
      odd: { 'o\'dd "key"': 1, 'a%': '_', empty: '', 'dotted.name': 'yes' },
      scores: { scores: [0, 10], at: '2024-05-01T12:00:00+02:00' },
      day: { scores: 5, at: ['2024-05-01', 'some day'] },
    };

    beforeAll(async () => {
      harness = await openHarness();
      store = await prepared('filter', documents);
    }, patience);
    afterAll(() => harness?.close(), patience);

    async function prepared(pipeline: string, filled: Readonly<Record<string, Metadata>>): Promise<Store> {
      const made = await harness.open(pipeline);
      await made.prepare(layout);
      const writes = Object.entries(filled).map(([id, metadata]) => storing(id, 1, [id], { metadata }));
      expect(new Set(kinds(await made.sink.write(writes)))).toEqual(new Set(['done']));
      return made;
    }

    async function find(filter: Filter, where = store): Promise<string[]> {
      const query = { space, vector: vectorOf('q'), k: 1000, filter: readFilter(filter) };
      const hits = await where.search.search(query);
      return hits.map(({ documentId }) => documentId).sort();
    }

    const ids = Object.keys(documents).sort();
    const allBut = (...without: string[]) => ids.filter((id) => !without.includes(id));

    it('asks for one value or any of several', async () => {
      expect(await find({ lang: 'en' })).toEqual(['en']);
      expect(await find({ lang: ['en', 'de'] })).toEqual(['de', 'en']);
      expect(await find({ lang: [] })).toEqual([]);
      expect(await find({ lang: 'fr' })).toEqual([]);
    });

    it('asks for all conditions at once', async () => {
      expect(await find({ lang: ['en', 'de'], 'meta.year': 2021 })).toEqual(['de']);
      expect(await find({ lang: 'en', 'meta.year': 2021 })).toEqual([]);
      expect(await find({})).toEqual(ids);
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

    it('reaches neither into lists nor into names that hold dots, unless they are escaped', async () => {
      expect(await find({ 'tags.0': 'x' })).toEqual([]);
      expect(await find({ 'dotted.name': 'yes' })).toEqual([]);
      expect(await find({ 'dotted\\.name': 'yes' })).toEqual(['odd']);
    });

    it('negates: true exactly where the condition is not, also where the field is missing', async () => {
      expect(await find({ lang: { $not: 'en' } })).toEqual(allBut('en'));
      expect(await find({ lang: { $not: ['en', null] } })).toEqual(allBut('en', 'none'));
      expect(await find({ $not: { lang: 'en', 'meta.year': 2021 } })).toEqual(ids);
      expect(await find({ $not: { $not: { lang: 'en' } } })).toEqual(['en']);
      expect(await find({ scores: { $not: { $gte: 6 } } })).toEqual(allBut('scores'));
    });

    it('asks whether there is something: not null, not an empty list', async () => {
      expect(await find({ lang: { $exists: true } })).toEqual(['de', 'en', 'text-year']);
      expect(await find({ tags: { $exists: true } })).toEqual(['en', 'text-year']);
      expect(await find({ empty: { $exists: true } })).toEqual(['odd']);
      expect(await find({ lang: { $exists: false } })).toEqual(allBut('de', 'en', 'text-year'));
    });

    it('compares numbers with numbers alone', async () => {
      expect(await find({ 'meta.year': { $gte: 2020 } })).toEqual(['de', 'en']);
      expect(await find({ 'meta.year': { $gt: 2020, $lte: 2021 } })).toEqual(['de']);
      expect(await find({ 'meta.year': { $gt: 2020.5, $lt: 2021 } })).toEqual([]);
      expect(await find({ lang: { $gte: -1e300 } })).toEqual([]);
    });

    it('asks both bounds of the same element of a list', async () => {
      expect(await find({ scores: { $gt: 1, $lt: 9 } })).toEqual(['day']);
      expect(await find({ $and: [{ scores: { $gt: 1 } }, { scores: { $lt: 9 } }] })).toEqual([
        'day',
        'scores',
      ]);
    });

    it('compares times whatever their zone and form, and passes over what is none', async () => {
      expect(await find({ at: { $gte: '2024-05-01T10:00:00Z' } })).toEqual(['scores']);
      expect(await find({ at: { $gte: '2024-05-01' } })).toEqual(['day', 'scores']);
      expect(await find({ at: { $gt: '2024-05-01' } })).toEqual(['scores']);
      expect(await find({ at: { $lt: '2024-05-01 12:00:00+02' } })).toEqual(['day']);
      expect(await find({ lang: { $gt: '1970-01-01' } })).toEqual([]);
    });

    it('joins filters: all of them, any of them', async () => {
      expect(await find({ $or: [{ lang: 'de' }, { scores: 10 }] })).toEqual(['de', 'scores']);
      expect(await find({ $or: [{ lang: 'de' }, { lang: 'en' }], tags: 'x' })).toEqual(['en']);
      expect(await find({ $or: [] })).toEqual([]);
      expect(await find({ $and: [] })).toEqual(ids);
    });

    it('finds of random documents those that the meaning of a random filter says', async () => {
      const random = Object.fromEntries(
        fc.sample(anyMetadata, { numRuns: 250, seed: 7 }).map((metadata, at) => [`r-${at}`, metadata]),
      );
      const filled = await prepared('filter-random', random);
      let hits = 0;
      await fc.assert(
        fc.asyncProperty(anyFilter, async (filter) => {
          const wanted = Object.keys(random).filter((id) =>
            matches(readFilter(filter), { doc: id, ...random[id] }),
          );
          expect(await find(filter, filled)).toEqual(wanted.sort());
          hits += wanted.length > 0 && wanted.length < 250 ? 1 : 0;
        }),
        { numRuns: 150, seed: 7 },
      );
      // Most of them tell documents apart.
      expect(hits).toBeGreaterThan(50);
    });
  });
}
