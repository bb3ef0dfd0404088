import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BehindDocument, Generations } from '../../src/contracts/generations.js';
import type { Store } from '../../src/contracts/store.js';
import { countTerms } from '../../src/transforms/terms/count-terms.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { deleting, failing, kinds, layout, layoutOf, storing, textsOf, version } from './store-samples.js';

/** Where a store keeps generations beside each other: what is behind, who may write what, and the switch. */
export function generationsSuite(name: string, openHarness: OpenHarness): void {
  describe(`generations: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;
    let generations: Generations;
    let count = 0;
    const opened: Store[] = [];

    const open = async (pipeline: string) => {
      const handle = await harness.open(pipeline);
      opened.push(handle);
      return handle;
    };
    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      store = await open(`generations-${count++}`);
      await store.prepare(layout);
      generations = store.generations!;
    }, patience);
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((handle) => handle.close()));
    }, patience);

    const claim = (number: number, after = '', limit = 100, leaseMs = 60_000) =>
      generations.claim(number, { after, limit, leaseMs });
    /** Sorted: a store has an order of its own. */
    const idsOf = (documents: readonly BehindDocument[]) =>
      documents.map(({ documentId }) => documentId).sort();
    /** Takes over all that a generation is behind in. */
    const takeOver = async (number: number) => {
      const claimed = await claim(number);
      for (const { entry, chunks } of await generations.read(idsOf(claimed))) {
        const { documentId, source, state, contentHash, chainDigest } = entry;
        const key = { documentId, source, version: entry.version! };
        const texts = chunks.map(({ text }) => text);
        const stored = storing(documentId, 1, texts, {
          contentHash: contentHash!,
          chainDigest: chainDigest!,
        });
        await generations
          .view(number)
          .sink.write([
            state === 'stored' ? { ...stored, version: entry.version! } : { ...key, kind: 'delete' },
          ]);
      }
      await generations.settle(number, claimed);
      return idsOf(claimed);
    };
    const start = async (width = 4) => {
      const number = await generations.start(layoutOf(width), { made: 'by a test' });
      await generations.enlist(number);
      return number;
    };
    const switchTo = async (number: number) => {
      await generations.pause(10_000);
      return generations.switchTo(number);
    };

    it('are one at first, and none before the store was prepared', async () => {
      await store.sink.write([storing('a', 1, ['one', 'two'])]);
      expect(await generations.active()).toBe(1);
      expect(await generations.list()).toMatchObject([
        { number: 1, state: 'active', behind: 0, count: { documents: 1, chunks: 2 }, spaces: layout.spaces },
      ]);
      const fresh = (await open('never-prepared')).generations!;
      expect(await fresh.active()).toBeUndefined();
      expect(await fresh.list()).toEqual([]);
    });

    it('begin behind in every document, and from then on in every one that is written', async () => {
      await store.sink.write([
        storing('a', 1, ['one']),
        storing('b', 1, ['two']),
        storing('c', 1, ['three']),
      ]);
      const two = await start(3);
      expect(await generations.list()).toMatchObject([
        { number: 1, state: 'active' },
        {
          number: 2,
          state: 'filling',
          behind: 3,
          count: { documents: 0, chunks: 0 },
          spaces: [{ width: 3 }],
        },
      ]);
      const claimed = await claim(two);
      expect(claimed.map(({ chunks }) => chunks)).toEqual([1, 1, 1]);
      expect(await generations.behind(two)).toEqual({ documents: 3, claimed: 3 });
      await generations.settle(two, claimed);
      expect(await generations.behind(two)).toEqual({ documents: 0, claimed: 0 });
      await store.sink.write([
        storing('a', 2, ['new']),
        storing('d', 1, ['fresh']),
        deleting('b', 2),
        failing('c', 2),
      ]);
      // What changes nothing is no news.
      await store.sink.write([storing('a', 1, ['late'])]);
      expect(idsOf(await claim(two))).toEqual(['a', 'b', 'c', 'd']);
    });

    it('hand a document to one worker at a time, and again after the lease or a later change', async () => {
      await store.sink.write([
        storing('a', 1, ['one']),
        storing('b', 1, ['two']),
        storing('c', 1, ['three']),
      ]);
      const two = await start();
      const first = await claim(two, '', 2);
      expect(first).toHaveLength(2);
      const rest = await claim(two, '', 2, 1);
      expect(idsOf([...first, ...rest])).toEqual(['a', 'b', 'c']);
      await expect.poll(async () => idsOf(await claim(two, '', 2))).toEqual(idsOf(rest));
      expect(await claim(two)).toEqual([]);
      await store.sink.write([storing('a', 2, ['new'])]);
      expect(idsOf(await claim(two, 'a'))).toEqual([]);
      expect(idsOf(await claim(two))).toEqual(['a']);
    });

    it('are gone through page by page in an order of the store', async () => {
      await store.sink.write(['a', 'b', 'c', 'd', 'e'].map((id) => storing(id, 1, [id])));
      const two = await start();
      const pages = [await claim(two, '', 2, 0)];
      for (let page = pages[0]!; page.length > 0; pages.push(page))
        page = await claim(two, page.at(-1)!.documentId, 2, 0);
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1, 0]);
      expect(idsOf(pages.flat())).toEqual(['a', 'b', 'c', 'd', 'e']);
    });

    it('give those who claim at once so many each as they ask for', async () => {
      const ids = Array.from({ length: 12 }, (_, at) => `d${at}`);
      await store.sink.write(ids.map((id) => storing(id, 1, [id])));
      const two = await start();
      const claimed = await Promise.all([claim(two, '', 3), claim(two, '', 3), claim(two, '', 3)]);
      expect(claimed.map(({ length }) => length)).toEqual([3, 3, 3]);
      expect(new Set(idsOf(claimed.flat())).size).toBe(9);
    });

    it('stay behind in what was changed after it was claimed', async () => {
      await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two'])]);
      const two = await start();
      const claimed = await claim(two);
      await store.sink.write([storing('a', 2, ['new'])]);
      await generations.settle(two, claimed);
      expect(idsOf(await claim(two))).toEqual(['a']);
    });

    it('give documents as they are stored: ledger, chunks and what stood before their text', async () => {
      const write = storing('a', 3, ['one', 'two']);
      const [first, second] = write.chunks;
      const headed = { ...first!, embeddedText: `Heading: ${first!.text}` };
      await store.sink.write([{ ...write, chunks: [headed, second!] }, deleting('gone', 2)]);
      await store.sink.write([failing('a', 5)]);
      const [a, gone, ...more] = await generations.read(['a', 'gone', 'unknown']);
      expect(more).toEqual([]);
      expect(a).toEqual({
        entry: (await store.sink.ledger(['a'])).get('a'),
        chunks: [headed, second],
      });
      expect(a!.entry.failedVersion).toBe(version(5));
      expect(gone).toMatchObject({ entry: { state: 'deleted', version: version(2) }, chunks: [] });
    });

    it('are written beside the active one, which shows nothing of it', async () => {
      await store.sink.write([storing('a', 1, ['one'])]);
      const two = await start();
      const beside = generations.view(two);
      expect(
        kinds(await beside.sink.write([storing('a', 1, ['changed']), storing('x', 1, ['only'])])),
      ).toEqual(['done', 'done']);
      expect(await textsOf(store, 'a')).toEqual(['one']);
      expect(await store.count()).toEqual({ documents: 1, chunks: 1 });
      expect((await beside.sink.ledger(['x'])).get('x')).toMatchObject({ state: 'stored' });
      expect(await beside.artifacts.read('chain')).toEqual({ made: 'by a test' });
      expect(idsOf(await claim(two))).toEqual(['a']);
    });

    it('are switched at once for readers and writers, when nothing is behind and writers are paused', async () => {
      await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two'])]);
      const two = await start();
      expect(await switchTo(two)).toBe(false);
      await takeOver(two);
      await generations.resume();
      expect(await generations.switchTo(two)).toBe(false);
      const reader = await open(`generations-${count - 1}`);
      expect(await textsOf(reader, 'a')).toEqual(['one']);
      expect(await switchTo(two)).toBe(true);
      expect(await generations.active()).toBe(2);
      expect(await textsOf(reader, 'a')).toEqual(['one']);
      const query = { space: '*', vector: Float32Array.of(1, 0, 0, 0), k: 2 };
      expect(await reader.search.search({ ...query, generation: 2 })).toHaveLength(2);
      await expect(reader.search.search({ ...query, generation: 1 })).rejects.toMatchObject({
        code: 'generation_moved',
      });
      const words = { terms: countTerms('one'), k: 2, k1: 1, b: 1 };
      await expect(reader.search.searchTerms!({ ...words, generation: 1 })).rejects.toMatchObject({
        code: 'generation_moved',
      });
      await expect(store.sink.write([storing('c', 1, ['three'])])).rejects.toMatchObject({
        code: 'generation_moved',
      });
      await expect(generations.view(2).sink.write([storing('c', 1, ['three'])])).rejects.toMatchObject({
        code: 'generation_moved',
      });
      const next = await open(`generations-${count - 1}`);
      await next.prepare(layout);
      expect(kinds(await next.sink.write([storing('c', 1, ['three'])]))).toEqual(['done']);
      expect(await next.count()).toEqual({ documents: 3, chunks: 3 });
      expect(await next.artifacts.read('chain')).toEqual({ made: 'by a test' });
    });

    it('hold writers up while they are paused, and no longer', async () => {
      await store.sink.write([storing('a', 1, ['one'])]);
      const two = await start();
      await takeOver(two);
      await generations.pause(60_000);
      const fresh = store.sink.write([storing('b', 1, ['two'])]);
      const known = store.sink.write([storing('a', 2, ['new'])]);
      expect(await claim(two)).toEqual([]);
      expect((await store.count()).documents).toBe(1);
      await generations.resume();
      expect(kinds([...(await fresh), ...(await known)])).toEqual(['done', 'done']);
      await generations.pause(50);
      expect(kinds(await store.sink.write([storing('b', 2, ['late'])]))).toEqual(['done']);
      expect(idsOf(await claim(two))).toEqual(['a', 'b']);
    });

    it('can be switched back once the one before took over what was written since', async () => {
      await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two'])]);
      const two = await start();
      await takeOver(two);
      expect(await switchTo(two)).toBe(true);
      const next = await open(`generations-${count - 1}`);
      await next.prepare(layout);
      await next.sink.write([storing('a', 2, ['new']), deleting('b', 2)]);
      expect(await generations.list()).toMatchObject([
        { number: 1, state: 'retired', behind: 2 },
        { number: 2, state: 'active', behind: 0 },
      ]);
      expect(await switchTo(1)).toBe(false);
      expect(await takeOver(1)).toEqual(['a', 'b']);
      expect(await switchTo(1)).toBe(true);
      const back = await open(`generations-${count - 1}`);
      await back.prepare(layout);
      expect(await textsOf(back, 'a')).toEqual(['new']);
      expect(await textsOf(back, 'b')).toEqual([]);
    });

    it('are compared whole: what one lacks is noted, whoever forgot it', async () => {
      await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two']), deleting('c', 4)]);
      const two = await start();
      await generations.settle(two, await claim(two));
      expect(await generations.reconcile(two)).toBe(3);
      expect(await takeOver(two)).toEqual(['a', 'b', 'c']);
      expect(await generations.reconcile(two)).toBe(0);
    });

    it('are compared by their versions alone where their texts are others', async () => {
      await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two'])]);
      const two = await start();
      await takeOver(two);
      await generations.view(two).sink.write([storing('a', 1, ['cut', 'anew'])]);
      expect(await generations.reconcile(two, undefined, 'versions')).toBe(0);
      expect(await generations.reconcile(two)).toBe(1);
      await generations.view(two).sink.write([storing('b', 2, ['two'])]);
      expect(await generations.reconcile(two, undefined, 'versions')).toBe(1);
    });

    it('are dropped whole, but not the active one, and leave nothing for the next to find', async () => {
      await store.sink.write([storing('a', 1, ['one'])]);
      const two = await start();
      await takeOver(two);
      await expect(generations.drop(1)).rejects.toMatchObject({ code: 'generation_moved' });
      expect(await generations.others()).toMatchObject([{ number: two, state: 'filling' }]);
      await generations.drop(two);
      expect(await generations.others()).toEqual([]);
      expect(await generations.list()).toMatchObject([{ number: 1, state: 'active' }]);
      await expect(generations.view(two).sink.write([storing('a', 9, ['x'])])).rejects.toThrow();
      const three = await start();
      expect(three).toBe(3);
      expect(await takeOver(three)).toEqual(['a']);
      expect(await switchTo(three)).toBe(true);
      await generations.drop(1);
      expect(await generations.list()).toMatchObject([{ number: 3, state: 'active' }]);
      expect(await store.memory.insert('source s', 1)).toBe(1);
      expect(await textsOf(store, 'a')).toEqual(['one']);
    });

    it('take vectors of another width beside those that are searched, and give samples of them', async () => {
      await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two'])]);
      const two = await start(2);
      const beside = generations.view(two);
      const wide = {
        ...storing('a', 1, ['one']),
        spaces: [{ space: '*', vectors: [Float32Array.of(3, 4)] }],
      };
      expect(kinds(await beside.sink.write([wide]))).toEqual(['done']);
      const samples = await beside.vectors(['a', 'b']);
      expect([...samples].map(([id, { space }]) => [id, space])).toEqual([['a', '*']]);
      // Of cosine the direction counts, and some stores keep no more.
      const [x, y] = samples.get('a')!.vector;
      expect(y! / x!).toBeCloseTo(4 / 3, 5);
      expect([...(await generations.view(1).vectors(10)).keys()].sort()).toEqual(['a', 'b']);
      const hits = await beside.search.search({ space: '*', vector: Float32Array.of(3, 4), k: 5 });
      expect(hits.map(({ documentId }) => documentId)).toEqual(['a']);
    });
  });
}
