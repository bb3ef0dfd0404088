import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SearchHit } from '../../src/contracts/chunk-search.js';
import type { StoreWrite } from '../../src/contracts/sink.js';
import type { Store } from '../../src/contracts/store.js';
import type { Filter } from '../../src/elements/filter/filter.js';
import { readFilter } from '../../src/elements/filter/read-filter.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { countTerms } from '../../src/transforms/terms/count-terms.js';
import { seededRandom } from '../support/seeded-random.js';
import { bm25 } from './bm25-reference.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { deleting, kinds, layout, storing } from './store-samples.js';

const k1 = 1.2;
const b = 0.75;

/** What every store does that can search by words. */
export function termsSuite(name: string, openHarness: OpenHarness): void {
  describe(`search by words: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;
    let count = 0;

    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      store = await harness.open(`terms-${count++}`);
      await store.prepare({ ...layout, terms: true });
    }, patience);

    function withTerms(
      id: string,
      position: number,
      texts: readonly string[],
      metadata?: Metadata,
    ): StoreWrite {
      const write = storing(id, position, texts, metadata && { metadata });
      return {
        ...write,
        chunks: write.chunks.map((chunk) => ({ ...chunk, terms: countTerms(chunk.embeddedText) })),
      };
    }
    const write = async (...writes: Parameters<Store['sink']['write']>[0]) =>
      expect(new Set(kinds(await store.sink.write(writes)))).toEqual(new Set(['done']));
    const find = (question: string, k = 1000, filter?: Filter) =>
      store.search.searchTerms!({
        terms: countTerms(question),
        k,
        k1,
        b,
        filter: readFilter(filter),
      });

    /** Texts and scores as the reference has them, best first. */
    function expected(texts: readonly string[], question: string) {
      const scores = bm25(
        texts.map((text) => text.split(' ')),
        question.split(' '),
        { k1, b },
      );
      return texts
        .map((text, at) => ({ text, score: scores[at]! }))
        .filter(({ score }) => score > 0)
        .sort((a, c) => c.score - a.score);
    }
    function agree(hits: readonly SearchHit[], wanted: ReturnType<typeof expected>) {
      expect(hits.map(({ text }) => text).sort()).toEqual(wanted.map(({ text }) => text).sort());
      for (const [at, { score }] of hits.entries()) expect(score).toBeCloseTo(wanted[at]!.score, 5);
    }

    it('finds by words alone, rare ones first, whatever their case', async () => {
      await write(
        withTerms('a', 1, ['the cat sat', 'the dog ran', 'the bird flew']),
        withTerms('b', 1, ['Error E1234 in the pump']),
      );
      expect((await find('e1234')).map(({ text }) => text)).toEqual(['Error E1234 in the pump']);
      expect((await find('THE CAT'))[0]).toMatchObject({
        documentId: 'a',
        ordinal: 0,
        start: 0,
        text: 'the cat sat',
      });
      expect(await find('the', 2)).toHaveLength(2);
      expect(await find('nothing')).toEqual([]);
      expect(await find('?!')).toEqual([]);
      await expect(find('cat', 0)).rejects.toMatchObject({ code: 'config_invalid' });
    });

    it('scores as BM25 does over random texts, and goes on to while they change and go', async () => {
      const random = seededRandom(11);
      const word = () => `w${Math.floor(40 * random() ** 2)}`;
      const text = (n: number) =>
        [`id${n}`, ...Array.from({ length: 1 + Math.floor(random() * 30) }, word)].join(' ');
      const texts = new Map<string, string[]>();
      for (let d = 0; d < 40; d += 1) texts.set(`d${d}`, [text(3 * d), text(3 * d + 1), text(3 * d + 2)]);
      await write(...[...texts].map(([id, own]) => withTerms(id, 1, own)));
      const questions = ['w0', 'w0 w1 w2 w3 w4 w5 w6', 'w39 w0', 'id7 w12', 'w3 w3 w30 nowhere'];
      const check = async () => {
        for (const question of questions)
          agree(await find(question), expected([...texts.values()].flat(), question));
      };
      await check();
      // Changed, shortened, gone, new: nothing of what was is counted.
      for (let d = 0; d < 20; d += 1) texts.set(`d${d}`, [text(3 * d), texts.get(`d${d}`)![1]!]);
      await write(...[...texts].slice(0, 20).map(([id, own]) => withTerms(id, 2, own)));
      for (let d = 30; d < 40; d += 1) texts.delete(`d${d}`);
      await write(...Array.from({ length: 10 }, (_, d) => deleting(`d${30 + d}`, 2)));
      await check();
    });

    it('counts over the whole pipeline, also where a filter leaves few', async () => {
      const texts = ['red apple', 'red pear', 'red plum', 'green apple'];
      await write(...texts.map((text, at) => withTerms(`d${at}`, 1, [text], { even: at % 2 === 0 })));
      const hits = await find('red apple', 10, { even: true });
      agree(
        hits,
        expected(texts, 'red apple').filter(({ text }) => ['red apple', 'red plum'].includes(text)),
      );
      expect(await find('pear', 10, { even: true })).toEqual([]);
    });

    it('finds what is in one of the spaces that are asked', async () => {
      const two = await harness.open(`terms-spaces-${count}`);
      const spaces = [...layout.spaces, { name: 'en', width: 2 }];
      await two.prepare({ spaces, terms: true });
      expect(kinds(await two.sink.write([withTerms('a', 1, ['red apple'])]))).toEqual(['done']);
      const query = { terms: countTerms('apple'), k: 5, k1, b };
      const among = async (...names: readonly string[]) =>
        (await two.search.searchTerms!({ ...query, spaces: names })).length;
      expect([await among('*'), await among('en'), await among('en', '*')]).toEqual([1, 0, 1]);
      await expect(among('fr')).rejects.toMatchObject({ code: 'store_layout' });
    });

    it('gives exactly k, the lower chunk id first among equal scores, and takes questions of any length', async () => {
      await write(...Array.from({ length: 20 }, (_, at) => withTerms(`d${at}`, 1, [`word filler${at}`])));
      const all = (await find('word')).map(({ chunkId }) => chunkId);
      expect(all).toEqual([...all].sort());
      expect((await find('word', 5)).map(({ chunkId }) => chunkId)).toEqual(all.slice(0, 5));
      const long = Array.from({ length: 3000 }, (_, at) => `filler${at}`).join(' ');
      expect((await find(`${long} word`)).length).toBeGreaterThan(0);
    });

    it('counts a word that fills a chunk almost as BM25 would', async () => {
      const texts = [Array.from({ length: 500 }, () => 'spam').join(' '), 'spam and eggs', 'eggs'];
      await write(withTerms('a', 1, texts));
      const [first] = await find('spam');
      expect(first!.text).toBe(expected(texts, 'spam')[0]!.text);
    });

    it('shares the store with pipelines that keep no terms', async () => {
      const other = await harness.open(`terms-without-${count}`);
      await other.prepare(layout);
      expect(kinds(await other.sink.write([storing('a', 1, ['red apple'])]))).toEqual(['done']);
      await write(withTerms('a', 1, ['red pear']));
      expect((await find('red')).map(({ text }) => text)).toEqual(['red pear']);
      const query = { terms: countTerms('red'), k: 5, k1, b };
      expect(await other.search.searchTerms!(query)).toEqual([]);
    });

    it('reads as empty before it is prepared', async () => {
      const fresh = await harness.open('terms-unprepared');
      expect(await fresh.search.searchTerms!({ terms: countTerms('red'), k: 5, k1, b })).toEqual([]);
    });
  });
}
