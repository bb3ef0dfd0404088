import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentWrite, StoreWrite } from '../../src/contracts/sink.js';
import type { Store } from '../../src/contracts/store.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { chunksFor, codeOf, kinds, layout, storing, textsOf, vectorOf, width } from './store-samples.js';

/** What every store does that holds the vectors of several models. */
export function spacesSuite(name: string, openHarness: OpenHarness): void {
  describe(`spaces: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;
    let pipeline: string;
    let count = 0;

    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      pipeline = `spaces-${count++}`;
      store = await harness.open(pipeline);
      await store.prepare({ spaces });
    }, patience);

    const write = (...writes: DocumentWrite[]) => store.sink.write(writes);
    const spaces = [
      { name: 'en', width: 3 },
      { name: '*', width },
      { name: 'it\'s "odd"', width: 2 },
    ];
    const wide = (text: string, components: number) => {
      const vector = new Float32Array(components).fill(0.5);
      vector[0] = vectorOf(text)[0]!;
      return vector;
    };
    /** The document's chunks with a vector in each of these spaces. */
    const within = (
      documentId: string,
      position: number,
      texts: string[],
      ...names: string[]
    ): StoreWrite => ({
      ...storing(documentId, position, texts),
      spaces: names.map((name) => {
        const { width: components } = spaces.find((one) => one.name === name)!;
        return { space: name, vectors: texts.map((text) => wide(text, components)) };
      }),
    });
    const textsIn = async (name: string) => {
      const { width: components } = spaces.find((one) => one.name === name)!;
      const hits = await store.search.search({ space: name, vector: wide('q', components), k: 100 });
      return hits.map(({ text }) => text).sort();
    };
    const heldIn = async (name: string, texts: string[]) => {
      const ids = chunksFor('a', texts).map(({ chunk }) => chunk.id);
      const found = await store.sink.heldChunks(name, ids);
      return ids.map((id) => found.has(id));
    };

    it('keep the vectors of different models apart, and search in one of them', async () => {
      const odd = spaces[2]!.name;
      const results = await write(
        within('a', 1, ['one'], 'en'),
        within('b', 1, ['two'], '*'),
        within('c', 1, ['three'], odd),
      );
      expect(kinds(results)).toEqual(['done', 'done', 'done']);
      expect(await textsIn('en')).toEqual(['one']);
      expect(await textsIn('*')).toEqual(['two']);
      expect(await textsIn(odd)).toEqual(['three']);
      expect(await store.count()).toEqual({ documents: 3, chunks: 3 });
    });

    it('hold a chunk side by side, and it counts once', async () => {
      await write(within('a', 1, ['one', 'two'], 'en', '*'));
      expect(await textsIn('en')).toEqual(['one', 'two']);
      expect(await textsIn('*')).toEqual(['one', 'two']);
      expect(await store.count()).toEqual({ documents: 1, chunks: 2 });
      expect(await heldIn('en', ['one', 'two', 'three'])).toEqual([true, true, false]);
      expect(await heldIn(spaces[2]!.name, ['one', 'two'])).toEqual([false, false]);
    });

    it('are left by a document that changes its route, also where its chunks stay', async () => {
      await write(within('a', 1, ['one', 'two'], 'en'));
      expect(kinds(await write(within('a', 2, ['one', 'new'], '*')))).toEqual(['done']);
      expect(await textsIn('en')).toEqual([]);
      expect(await textsIn('*')).toEqual(['new', 'one']);
      expect(await heldIn('en', ['one'])).toEqual([false]);
      expect(await store.count()).toEqual({ documents: 1, chunks: 2 });
    });

    it('keep a vector each by itself: what is kept in one and is not there in the other has moved', async () => {
      await write(within('a', 1, ['one', 'two'], 'en'));
      const keepIn = (...names: string[]): StoreWrite => ({
        ...within('a', 2, ['one', 'two'], 'en', '*'),
        spaces: within('a', 2, ['one', 'two'], 'en', '*').spaces.map((one) =>
          names.includes(one.space) ? { ...one, vectors: [undefined, undefined] } : one,
        ),
      });
      expect(kinds(await write(keepIn('en', '*')))).toEqual(['moved']);
      expect(kinds(await write(keepIn('*')))).toEqual(['moved']);
      expect(await textsIn('*')).toEqual([]);
      expect(kinds(await write(keepIn('en')))).toEqual(['done']);
      expect(await textsIn('en')).toEqual(['one', 'two']);
      expect(await textsIn('*')).toEqual(['one', 'two']);
    });

    it('refuse a write alone that names no space, one that is not there, or vectors of another width', async () => {
      const good = within('good', 1, ['one'], 'en');
      const results = await write(
        { ...within('none', 1, ['one'], 'en'), spaces: [] },
        { ...good, documentId: 'unknown', spaces: [{ space: 'fr', vectors: [wide('x', 3)] }] },
        { ...good, documentId: 'width', spaces: [{ space: 'en', vectors: [wide('x', 4)] }] },
        { ...good, documentId: 'count', spaces: [{ space: 'en', vectors: [] }] },
        { ...good, documentId: 'twice', spaces: [good.spaces[0]!, good.spaces[0]!] },
        good,
      );
      expect(results.map(codeOf)).toEqual([...Array.from({ length: 5 }, () => 'store_refused'), undefined]);
      expect(await textsIn('en')).toEqual(['one']);
    });

    it('are those that the store was prepared with, in any order; others are refused', async () => {
      await write(within('a', 1, ['one'], 'en'));
      const other = await harness.open(`${pipeline}`);
      await other.prepare({ spaces: spaces.toReversed() });
      for (const changed of [spaces.slice(1), [...spaces, { name: 'fr', width: 3 }]])
        await expect(other.prepare({ spaces: changed })).rejects.toMatchObject({ code: 'store_layout' });
      const search = other.search.search({ space: 'fr', vector: wide('q', 3), k: 1 });
      await expect(search).rejects.toMatchObject({ code: 'store_layout' });
      expect(await textsIn('en')).toEqual(['one']);
      await other.close();
    });

    it('share a store with a pipeline of one space', async () => {
      const single = await harness.open(`${pipeline}-single`);
      await single.prepare(layout);
      await single.sink.write([storing('a', 1, ['one'])]);
      await write(within('a', 1, ['two'], 'en', '*'));
      await single.sink.write([storing('a', 2, ['one', 'more'], { kept: false })]);
      expect(await textsOf(single, 'a')).toEqual(['one', 'more']);
      expect(await textsIn('en')).toEqual(['two']);
      await single.close();
    });
  });
}
