import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/contracts/store.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { filterSuite } from './filter-suite.js';
import { searchSuite } from './search-suite.js';
import { sinkSuite } from './sink-suite.js';
import { spacesSuite } from './spaces-suite.js';
import { kinds, layout, layoutOf, space, storing, textsOf, vectorOf, version } from './store-samples.js';

/** All that a store does: sink, search, and what is told here of its layout and its artifacts. */
export function storeSuite(name: string, openHarness: OpenHarness): void {
  sinkSuite(name, openHarness);
  searchSuite(name, openHarness);
  filterSuite(name, openHarness);
  spacesSuite(name, openHarness);

  describe(`store: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let pipeline: string;
    let store: Store;
    let count = 0;

    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      pipeline = `store-${count++}`;
      store = await harness.open(pipeline);
    }, patience);

    it('reads as empty before it is prepared, and refuses writes', async () => {
      expect(await store.count()).toEqual({ documents: 0, chunks: 0 });
      expect(await store.sink.ledger(['a'])).toEqual(new Map());
      expect(await store.sink.heldChunks(space, ['6d3b2ad1-a5f0-5f0f-9c0e-6d696c6c7261'])).toEqual(new Set());
      expect(await store.artifacts.read('chain')).toBeUndefined();
      expect(await store.search.search({ space, vector: vectorOf('q'), k: 3 })).toEqual([]);
      expect(await store.search.chunks([{ documentId: 'a', first: 0, last: 9 }])).toEqual([[]]);
      const scope = { source: 's', prefix: '', except: [], since: version(1) };
      expect(await store.sink.countUnnamed(scope)).toEqual({ stored: 0, unnamed: 0 });
      expect(await store.sink.listUnnamed(scope, undefined, 10)).toEqual([]);
      await store.tune();
      await expect(store.sink.write([storing('a', 1, ['one'])])).rejects.toMatchObject({
        code: 'store_layout',
      });
    });

    it('is prepared by several at once', async () => {
      const handles = await Promise.all(Array.from({ length: 5 }, () => harness.open(pipeline)));
      await Promise.all(handles.map((handle) => handle.prepare(layout)));
      expect(kinds(await handles[4]!.sink.write([storing('a', 1, ['one'])]))).toEqual(['done']);
      expect(await textsOf(store, 'a')).toEqual(['one']);
      await Promise.all(handles.map((handle) => handle.close()));
    });

    it('refuses another width once it holds vectors, and keeps what it holds', async () => {
      await store.prepare(layout);
      await store.sink.write([storing('a', 1, ['one'])]);
      const other = await harness.open(pipeline);
      await expect(other.prepare(layoutOf(3))).rejects.toMatchObject({ code: 'store_layout' });
      await store.prepare(layout);
      expect(await textsOf(store, 'a')).toEqual(['one']);
      await other.close();
    });

    it('is as right after tuning as before', async () => {
      await store.prepare(layout);
      await store.sink.write([storing('a', 1, ['one', 'two'])]);
      await store.tune();
      expect(await textsOf(store, 'a')).toEqual(['one', 'two']);
    });

    it('replaces an artifact only where it still is what was expected, whatever the order of its keys', async () => {
      await store.prepare(layout);
      const { artifacts } = store;
      expect(await artifacts.replace('place', undefined, { a: 1, b: 2 })).toBe(true);
      expect(await artifacts.replace('place', undefined, { a: 9 })).toBe(false);
      expect(await artifacts.replace('place', { a: 1 }, { a: 9 })).toBe(false);
      expect(await artifacts.read('place')).toEqual({ a: 1, b: 2 });
      expect(await artifacts.replace('place', { b: 2, a: 1 }, { a: 3 })).toBe(true);
      expect(await artifacts.read('place')).toEqual({ a: 3 });
      expect(await artifacts.replace('never', { a: 1 }, { a: 2 })).toBe(false);
      expect(await artifacts.read('never')).toBeUndefined();
    });

    it('remembers the first artifact of a name, also when several insert at once', async () => {
      await store.prepare(layout);
      const values = Array.from({ length: 8 }, (_, i) => ({ chain: [i, 'ü', null], nested: { ok: true } }));
      const handles = await Promise.all(values.map(() => harness.open(pipeline)));
      const found = await Promise.all(
        handles.map((handle, i) => handle.artifacts.insert('chain', values[i]!)),
      );
      expect(values).toContainEqual(found[0]);
      for (const one of found) expect(one).toEqual(found[0]);
      expect(await store.artifacts.read('chain')).toEqual(found[0]);
      expect(await store.artifacts.read('other')).toBeUndefined();
      expect(await store.artifacts.insert('text', 'plain')).toBe('plain');
      expect(await store.artifacts.insert('text', 'late')).toBe('plain');
      await Promise.all(handles.map((handle) => handle.close()));
    });
  });
}
