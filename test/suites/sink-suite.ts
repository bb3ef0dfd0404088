import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentWrite } from '../../src/contracts/sink.js';
import { readFilter } from '../../src/elements/filter/read-filter.js';
import type { Store } from '../../src/contracts/store.js';
import { fenceModel } from './fence-model.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import {
  chunksFor,
  chunksOf,
  codeOf,
  deleting,
  failing,
  kinds,
  layout,
  space,
  storing,
  textsOf,
  touching,
  vectorOf,
  version,
  width,
  withChunks,
} from './store-samples.js';

/** What every sink does, whatever it stands on. */
export function sinkSuite(name: string, openHarness: OpenHarness): void {
  describe(`sink: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;
    let pipeline: string;
    let count = 0;

    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      pipeline = `sink-${count++}`;
      store = await harness.open(pipeline);
      await store.prepare(layout);
    }, patience);

    const write = (...writes: DocumentWrite[]) => store.sink.write(writes);
    const entry = async (id: string) => (await store.sink.ledger([id])).get(id);

    describe('fence', () => {
      it('keeps the newest version, whatever the order of arrival', async () => {
        const orders = [
          [1, 2, 3],
          [1, 3, 2],
          [2, 1, 3],
          [2, 3, 1],
          [3, 1, 2],
          [3, 2, 1],
        ];
        for (const [index, order] of orders.entries()) {
          const id = `order-${index}`;
          let newest = 0;
          for (const position of order) {
            const [result] = await write(storing(id, position, [`text ${position}`]));
            expect(result!.kind).toBe(position > newest ? 'done' : 'stale');
            newest = Math.max(newest, position);
          }
          expect(await textsOf(store, id)).toEqual(['text 3']);
        }
      });

      it('calls a repeated version stale, and replaces it when content or chain differ', async () => {
        await write(storing('a', 5, ['one']));
        expect(kinds(await write(storing('a', 5, ['one'])))).toEqual(['stale']);
        expect(kinds(await write(storing('a', 5, ['two'])))).toEqual(['done']);
        expect(await textsOf(store, 'a')).toEqual(['two']);
        expect(kinds(await write(storing('a', 5, ['two'], { chainDigest: 'other' })))).toEqual(['done']);
        expect(await entry('a')).toMatchObject({ chainDigest: 'other', version: version(5) });
      });

      it('leaves a tombstone that older writes do not undo', async () => {
        await write(storing('a', 1, ['one']));
        expect(kinds(await write(deleting('a', 3)))).toEqual(['done']);
        expect(kinds(await write(storing('a', 2, ['late'])))).toEqual(['stale']);
        expect(await textsOf(store, 'a')).toEqual([]);
        expect(await entry('a')).toMatchObject({ state: 'deleted', version: version(3), chunkCount: 0 });
        expect(kinds(await write(storing('a', 4, ['back'])))).toEqual(['done']);
        expect(await textsOf(store, 'a')).toEqual(['back']);
      });

      it('leaves a tombstone for a document that it never saw', async () => {
        expect(kinds(await write(deleting('unknown', 3)))).toEqual(['done']);
        expect(kinds(await write(storing('unknown', 2, ['late'])))).toEqual(['stale']);
        expect(await store.count()).toEqual({ documents: 0, chunks: 0 });
      });

      it('deletes only what is older', async () => {
        await write(storing('a', 3, ['one']));
        expect(kinds(await write(deleting('a', 3)))).toEqual(['stale']);
        expect(kinds(await write(deleting('a', 2)))).toEqual(['stale']);
        expect(await textsOf(store, 'a')).toEqual(['one']);
      });

      it('keeps the last good version searchable when a newer one failed, and keeps older ones than that out', async () => {
        await write(storing('a', 1, ['good']));
        expect(kinds(await write(failing('a', 4)))).toEqual(['done']);
        expect(await textsOf(store, 'a')).toEqual(['good']);
        expect(await entry('a')).toMatchObject({
          version: version(1),
          failedVersion: version(4),
          state: 'stored',
        });
        expect(kinds(await write(storing('a', 3, ['older than the failure'])))).toEqual(['stale']);
        expect(kinds(await write(deleting('a', 3)))).toEqual(['stale']);
        expect(kinds(await write(touching('a', 3, ['good'])))).toEqual(['stale']);
        expect(kinds(await write(failing('a', 3), failing('b', 1)))).toEqual(['stale', 'done']);
        expect(await entry('b')).toMatchObject({
          version: undefined,
          failedVersion: version(1),
          state: 'absent',
        });
      });

      it('clears a failure by the retry of the failed version, and by a newer one', async () => {
        await write(failing('a', 4), failing('b', 4), failing('c', 4));
        expect(await write(storing('a', 4, ['retried']))).toEqual([{ kind: 'done', clearedFailure: true }]);
        expect(await write(deleting('b', 5))).toEqual([{ kind: 'done', clearedFailure: true }]);
        expect(await write(failing('c', 6))).toEqual([{ kind: 'done', clearedFailure: false }]);
        expect((await entry('a'))?.failedVersion).toBeUndefined();
        expect((await entry('b'))?.failedVersion).toBeUndefined();
        expect((await entry('c'))?.failedVersion).toBe(version(6));
        expect(await write(storing('a', 5, ['next']))).toEqual([{ kind: 'done', clearedFailure: false }]);
      });

      it('raises the version of an unchanged document, so that an older write stays out', async () => {
        await write(storing('a', 1, ['one']));
        expect(kinds(await write(touching('a', 5, ['one'])))).toEqual(['done']);
        expect(kinds(await write(storing('a', 4, ['late'])))).toEqual(['stale']);
        expect(kinds(await write(touching('a', 5, ['one']), touching('b', 1, ['none'])))).toEqual([
          'stale',
          'moved',
        ]);
        expect(await entry('a')).toMatchObject({ version: version(5), chunkCount: 1 });
        expect(await entry('b')).toBeUndefined();
      });

      it('tells a touch that the content is another now', async () => {
        await write(storing('a', 1, ['one']));
        await write(storing('a', 2, ['two']));
        expect(kinds(await write(touching('a', 3, ['one'])))).toEqual(['moved']);
        expect(kinds(await write(touching('a', 3, ['two'], { chainDigest: 'other' })))).toEqual(['moved']);
        await write(deleting('a', 4));
        expect(kinds(await write(touching('a', 5, ['two'])))).toEqual(['moved']);
        expect(await entry('a')).toMatchObject({ version: version(4), state: 'deleted' });
      });

      it('agrees with the contract on any sequence of writes', async () => {
        const ids = ['x', 'y'];
        const anyWrite = fc
          .record({
            kind: fc.constantFrom('store', 'store', 'touch', 'delete', 'fail'),
            id: fc.constantFrom(...ids),
            position: fc.integer({ min: 1, max: 5 }),
            texts: fc.constantFrom<string[]>([], ['one'], ['one', 'two'], ['two', 'three']),
            chainDigest: fc.constantFrom('chain', 'chain', 'other'),
          })
          .map(({ kind, id, position, texts, chainDigest }): DocumentWrite => {
            if (kind === 'store') return storing(id, position, texts, { chainDigest });
            if (kind === 'touch') return touching(id, position, texts, { chainDigest });
            return kind === 'delete' ? deleting(id, position) : failing(id, position);
          });
        let run = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(anyWrite, { minLength: 4, maxLength: 14 }), async (writes) => {
            const own = await harness.open(`${pipeline}-run-${run++}`);
            try {
              await own.prepare(layout);
              const model = fenceModel();
              for (const one of writes) expect(await own.sink.write([one])).toEqual([model.write(one)]);
              for (const id of ids) {
                expect((await own.sink.ledger([id])).get(id)).toEqual(model.entry(id));
                expect(await textsOf(own, id)).toEqual(model.texts(id));
              }
            } finally {
              await own.close();
            }
          }),
          { numRuns: 25, seed: 7 },
        );
      });
    });

    describe('replacement', () => {
      it('leaves exactly the chunks of the newest version: ten, then three, then none', async () => {
        const ten = Array.from({ length: 10 }, (_, i) => `part ${i}`);
        await write(storing('a', 1, ten));
        expect(await textsOf(store, 'a')).toEqual(ten);
        await write(storing('a', 2, ['part 4', 'new', 'part 0']));
        expect(await textsOf(store, 'a')).toEqual(['part 4', 'new', 'part 0']);
        expect(await store.count()).toEqual({ documents: 1, chunks: 3 });
        await write(storing('a', 3, []));
        expect(await textsOf(store, 'a')).toEqual([]);
        expect(await entry('a')).toMatchObject({ state: 'stored', chunkCount: 0 });
        expect(await store.count()).toEqual({ documents: 1, chunks: 0 });
      });

      it('gives back each chunk as it was written', async () => {
        const metadata = { lang: 'de', headings: ['A', 'B'], nested: { n: 1.5, none: null, ok: true } };
        await write(storing('a', 1, ['eins 😀', 'zwei \\u0000'], { metadata }));
        const expected = chunksFor('a', ['eins 😀', 'zwei \\u0000'], { metadata }).map(({ chunk }) => ({
          chunkId: chunk.id,
          documentId: 'a',
          ordinal: chunk.ordinal,
          start: chunk.start,
          end: chunk.end,
          text: chunk.text,
          metadata: chunk.metadata,
        }));
        expect(await chunksOf(store, 'a')).toMatchObject(expected);
      });

      it('keeps the vector of a chunk that is written without one, and everything else of it is new', async () => {
        await write(storing('a', 1, ['one', 'two'], { metadata: { n: 1 } }));
        const texts = ['zero', 'one', 'two'];
        const chunks = chunksFor('a', texts, { metadata: { n: 2 } }).map((one, i) =>
          i === 0 ? one : { ...one, vector: undefined },
        );
        expect(kinds(await write(withChunks(storing('a', 2, texts), chunks)))).toEqual(['done']);
        const hits = await store.search.search({
          space,
          vector: vectorOf('one'),
          k: 1,
          filter: readFilter({ doc: 'a' }),
        });
        expect(hits).toMatchObject([{ text: 'one', ordinal: 1, metadata: { n: 2 } }]);
        expect(hits[0]!.score).toBeCloseTo(1, 5);
      });

      it('changes nothing when a vector to keep is gone', async () => {
        await write(storing('a', 1, ['one', 'two']));
        await write(storing('a', 2, ['two']));
        const results = await write(storing('a', 3, ['one', 'two'], { kept: true }), storing('b', 1, ['b']));
        expect(kinds(results)).toEqual(['moved', 'done']);
        expect(await textsOf(store, 'a')).toEqual(['two']);
        expect(await entry('a')).toMatchObject({ version: version(2) });
        expect(kinds(await write(storing('never', 1, ['one'], { kept: true })))).toEqual(['moved']);
        expect(await entry('never')).toBeUndefined();
      });

      it('calls a write stale, not moved, when it is both', async () => {
        await write(storing('a', 4, ['two']));
        expect(kinds(await write(storing('a', 3, ['one'], { kept: true })))).toEqual(['stale']);
      });

      it('knows which chunks it holds', async () => {
        await write(storing('a', 1, ['one', 'two']));
        const [one, two, three] = chunksFor('a', ['one', 'two', 'three']).map(({ chunk }) => chunk.id);
        expect(await store.sink.heldChunks(space, [three!, two!, one!])).toEqual(new Set([one, two]));
        expect(await store.sink.heldChunks(space, [])).toEqual(new Set());
      });
    });

    describe('batches', () => {
      it('gives one result a write, in their order', async () => {
        expect(await write()).toEqual([]);
        await write(storing('d-7', 9, ['newer']), failing('d-8', 9));
        const writes = Array.from({ length: 250 }, (_, i) =>
          storing(`d-${i}`, 2, [`text ${i}`, `more ${i}`]),
        );
        const expected = writes.map((_, i) => (i === 7 || i === 8 ? 'stale' : 'done'));
        expect(kinds(await write(...writes.toReversed()))).toEqual(expected.toReversed());
        expect(await store.count()).toEqual({ documents: 249, chunks: 1 + 248 * 2 });
      });

      it('writes 126 of 128 documents when one holds a NaN and one a vector of the wrong width', async () => {
        const writes = Array.from({ length: 128 }, (_, i) => {
          const vector = [Float32Array.of(1, NaN, 0, 0), Float32Array.of(1, 2, 3)][i - 60];
          return storing(`d-${i}`, 1, [`text ${i}`], vector === undefined ? {} : { vector });
        });
        const results = await write(...writes);
        expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(126);
        expect([codeOf(results[60]), codeOf(results[61])]).toEqual(['store_refused', 'store_refused']);
        expect(await store.count()).toEqual({ documents: 126, chunks: 126 });
        expect(await entry('d-60')).toBeUndefined();
      });

      it('refuses a zero vector, which points nowhere', async () => {
        const [result] = await write(storing('a', 1, ['one'], { vector: new Float32Array(width) }));
        expect(codeOf(result)).toBe('store_refused');
      });

      it('refuses a document with a bad chunk whole, and leaves its old chunks', async () => {
        await write(storing('a', 1, ['one', 'two']));
        const bad = storing('a', 2, ['one', 'three', 'four']);
        const chunks = chunksFor('a', ['one', 'three', 'four']).map((one, i) =>
          i === 2 ? { ...one, vector: Float32Array.of(NaN, 1, 1, 1) } : one,
        );
        const results = await write(withChunks(bad, chunks), storing('b', 1, ['b']));
        expect(kinds(results)).toEqual(['refused', 'done']);
        expect(await textsOf(store, 'a')).toEqual(['one', 'two']);
        expect(await entry('a')).toMatchObject({ version: version(1) });
      });

      it('survives text and metadata that nobody cleaned: at worst that document is refused', async () => {
        const hostile = [
          storing('nul-text', 1, ['a\0b']),
          storing('nul-value', 1, ['x'], { metadata: { v: 'a\0b' } }),
          storing('nul-key', 1, ['x'], { metadata: { 'a\0b': 1 } }),
          storing('surrogate', 1, ['x'], { metadata: { v: '\ud83d' } }),
        ];
        const sound = Array.from({ length: 12 }, (_, i) => storing(`sound-${i}`, 1, [`😀 ${i}`]));
        const results = await write(...sound.slice(0, 6), ...hostile, ...sound.slice(6));
        expect(results).toHaveLength(16);
        for (const [index, result] of results.entries())
          if (index < 6 || index > 9) expect(result.kind).toBe('done');
          else expect(['done', 'refused']).toContain(result.kind);
        const stored = results.filter(({ kind }) => kind === 'done').length;
        expect(await store.count()).toEqual({ documents: stored, chunks: stored });
      });

      it('refuses a write of a document that another source owns', async () => {
        await write(storing('a', 1, ['one'], { source: 'first' }), failing('f', 1, 'first'));
        const results = await write(
          storing('a', 2, ['two'], { source: 'second' }),
          deleting('f', 3, 'second'),
          storing('b', 1, ['b'], { source: 'second' }),
        );
        expect(kinds(results)).toEqual(['refused', 'refused', 'done']);
        expect([codeOf(results[0]), codeOf(results[1])]).toEqual(['owner_mismatch', 'owner_mismatch']);
        expect(await textsOf(store, 'a')).toEqual(['one']);
        expect(await entry('a')).toMatchObject({ source: 'first', version: version(1) });
      });

      it('throws when a document occurs twice in a call', async () => {
        await expect(write(storing('a', 1, ['one']), deleting('a', 2))).rejects.toMatchObject({
          code: 'internal',
        });
        expect(await entry('a')).toBeUndefined();
      });

      it('takes ids with any characters', async () => {
        const ids = [
          "it's",
          '"quoted"',
          'back\\slash',
          'a/b c%_',
          '{curly,braces}',
          'NULL',
          '',
          ' ',
          '😀 ü\n\t',
          '$1',
          '\u00e9',
          'e\u0301',
        ];
        const results = await write(...ids.map((id) => storing(id, 1, [`text of ${id}`])));
        expect(kinds(results)).toEqual(ids.map(() => 'done'));
        const entries = await store.sink.ledger([...ids, 'missing']);
        expect(new Set(entries.keys())).toEqual(new Set(ids));
        for (const id of ids) expect(await textsOf(store, id)).toEqual([`text of ${id}`]);
        expect(kinds(await write(...ids.map((id) => deleting(id, 2))))).toEqual(ids.map(() => 'done'));
        expect(await store.count()).toEqual({ documents: 0, chunks: 0 });
      });

      it('takes long ids, and refuses alone what is too long', async () => {
        const random = Array.from({ length: 40_000 }, (_, i) => ((i * 2654435761) >>> 7).toString(36)).join(
          '',
        );
        const results = await write(
          storing(random.slice(0, 1900), 1, ['long']),
          storing(random, 1, ['endless']),
          storing('short', 1, ['short']),
        );
        expect([results[0]!.kind, results[2]!.kind]).toEqual(['done', 'done']);
        expect(['done', 'refused']).toContain(results[1]!.kind);
        expect(await textsOf(store, random.slice(0, 1900))).toEqual(['long']);
      });

      it('writes a document of thousands of chunks', async () => {
        const texts = Array.from({ length: 3000 }, (_, i) => `chunk ${i}`);
        expect(kinds(await write(storing('big', 1, texts)))).toEqual(['done']);
        expect(await store.count()).toEqual({ documents: 1, chunks: 3000 });
        expect(kinds(await write(storing('big', 2, texts.slice(1000), { kept: true })))).toEqual(['done']);
        expect(await store.count()).toEqual({ documents: 1, chunks: 2000 });
      });

      it('rejects with the reason of a signal that has aborted', async () => {
        const reason = new Error('stop');
        const aborted = AbortSignal.abort(reason);
        await expect(store.sink.write([storing('a', 1, ['one'])], aborted)).rejects.toBe(reason);
        await expect(store.sink.ledger(['a'], aborted)).rejects.toBe(reason);
        expect(await entry('a')).toBeUndefined();
      });
    });

    describe('several writers', () => {
      it('ends at the newest version when many race', async () => {
        const handles = await Promise.all([1, 2, 3].map(() => harness.open(pipeline)));
        const ids = Array.from({ length: 12 }, (_, i) => `race-${i}`);
        const tries = Array.from({ length: 60 }, (_, i) => i);
        const texts = (position: number) =>
          Array.from({ length: (position % 4) + 1 }, (_, i) => `v${position} ${i}`);
        await Promise.all(
          tries.map(async (i) => {
            const position = ((i * 37) % 60) + 1;
            // Different halves in different orders: writers meet on some documents and would deadlock if unordered.
            const some = ids.filter((_, at) => (at + i) % 2 === 0);
            const batch = (i % 2 === 0 ? some : some.toReversed()).map((id) =>
              position === 30 ? deleting(id, 30) : storing(id, position, texts(position)),
            );
            const results = await handles[i % 3]!.sink.write(batch);
            expect(results.every(({ kind }) => kind === 'done' || kind === 'stale')).toBe(true);
          }),
        );
        const newest = (parity: number) =>
          Math.max(...tries.filter((i) => i % 2 === parity).map((i) => ((i * 37) % 60) + 1));
        for (const [at, id] of ids.entries()) {
          const expected = newest(at % 2);
          expect(await textsOf(store, id)).toEqual(texts(expected));
          expect(await entry(id)).toMatchObject({
            version: version(expected),
            chunkCount: texts(expected).length,
          });
        }
        await Promise.all(handles.map((handle) => handle.close()));
      });

      it('keeps pipelines apart', async () => {
        const other = await harness.open(`${pipeline}-other`);
        await other.prepare(layout);
        await write(storing('a', 5, ['mine']));
        expect(kinds(await other.sink.write([storing('a', 1, ['theirs'])]))).toEqual(['done']);
        expect(kinds(await other.sink.write([deleting('a', 2)]))).toEqual(['done']);
        expect(await textsOf(store, 'a')).toEqual(['mine']);
        expect(await other.count()).toEqual({ documents: 0, chunks: 0 });
        await other.close();
      });
    });

    describe('sweep', () => {
      const scope = (parts: { prefix?: string; except?: string[]; since: number; source?: string }) => ({
        source: parts.source ?? 'suite',
        prefix: parts.prefix ?? '',
        except: parts.except ?? [],
        since: version(parts.since),
      });
      const list = (parts: Parameters<typeof scope>[0], after?: string, limit = 100) =>
        store.sink.listUnnamed(scope(parts), after, limit);

      beforeEach(async () => {
        await write(
          storing('docs/a', 1, ['a']),
          storing('docs/b', 5, ['b']),
          storing('docs/sub/c', 2, ['c']),
          storing('Docs/d', 3, ['d']),
          storing('other/e', 1, ['e'], { source: 'else' }),
          deleting('docs/gone', 1),
          failing('docs/failed', 1),
        );
      });

      it('names stored documents of the source that are older than the pass', async () => {
        expect(await list({ since: 5 })).toEqual(['Docs/d', 'docs/a', 'docs/sub/c']);
        expect(await store.sink.countUnnamed(scope({ since: 5 }))).toEqual({ stored: 4, unnamed: 3 });
        expect(await list({ since: 9, source: 'else' })).toEqual(['other/e']);
      });

      it('stays within the prefix and out of the exceptions', async () => {
        expect(await list({ since: 9, prefix: 'docs/' })).toEqual(['docs/a', 'docs/b', 'docs/sub/c']);
        const parts = { since: 9, prefix: 'docs/', except: ['docs/sub/', 'docs/b'] };
        expect(await list(parts)).toEqual(['docs/a']);
        expect(await store.sink.countUnnamed(scope(parts))).toEqual({ stored: 1, unnamed: 1 });
        expect(await list({ since: 9, prefix: 'docs_' })).toEqual([]);
        expect(await list({ since: 9, prefix: 'docs%' })).toEqual([]);
      });

      it('spares a document whose failed version belongs to the pass', async () => {
        await write(failing('docs/a', 6));
        expect(await list({ since: 6, prefix: 'docs/' })).toEqual(['docs/b', 'docs/sub/c']);
        expect(await list({ since: 7, prefix: 'docs/' })).toEqual(['docs/a', 'docs/b', 'docs/sub/c']);
      });

      it('goes through them page by page, in order', async () => {
        expect(await list({ since: 9 }, undefined, 2)).toEqual(['Docs/d', 'docs/a']);
        expect(await list({ since: 9 }, 'docs/a', 2)).toEqual(['docs/b', 'docs/sub/c']);
        expect(await list({ since: 9 }, 'docs/sub/c', 2)).toEqual([]);
      });
    });

    it('lists the ledger of a source page by page, in order, without what is deleted', async () => {
      await write(
        storing('docs/b', 5, ['b']),
        storing('Docs/d', 3, ['d']),
        storing('other/e', 1, ['e'], { source: 'else' }),
        deleting('docs/gone', 1),
        failing('docs/failed', 1),
      );
      const list = (after?: string, limit = 100) => store.sink.listLedger('suite', after, limit);
      const known = await store.sink.ledger(['Docs/d', 'docs/b', 'docs/failed']);
      const sorted = ['Docs/d', 'docs/b', 'docs/failed'].map((id) => known.get(id));
      expect(await list()).toEqual(sorted);
      expect(await list(undefined, 1)).toEqual(sorted.slice(0, 1));
      expect(await list('Docs/d', 1)).toEqual(sorted.slice(1, 2));
      expect(await list('docs/failed')).toEqual([]);
    });

    it('holds everything when it is opened again', async () => {
      await write(storing('a', 1, ['one', 'two']), deleting('b', 2), failing('c', 3));
      const before = await store.sink.ledger(['a', 'b', 'c']);
      expect(before.size).toBe(3);
      await store.close();
      store = await harness.open(pipeline);
      expect(await store.sink.ledger(['a', 'b', 'c'])).toEqual(before);
      expect(await textsOf(store, 'a')).toEqual(['one', 'two']);
      expect(kinds(await write(storing('a', 1, ['one', 'two'])))).toEqual(['stale']);
    });
  });
}
