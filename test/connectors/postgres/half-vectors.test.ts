import { describe, expect, it } from 'vitest';
import { halfFault, writeHalves } from '../../../connectors/postgres/half-floats.js';
import type { Store } from '../../../src/contracts/store.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import { seededRandom } from '../../support/seeded-random.js';
import { testContext, type TestContext } from '../../support/test-context.js';
import { patience } from '../../suites/store-harness.js';
import { codeOf, kinds, layoutOf, space, storing } from '../../suites/store-samples.js';
import { storeBed } from './store-bed.js';

describe('vectors of 16 bits a component', { timeout: patience }, () => {
  const bed = storeBed();
  const { onAdmin } = bed;
  type Vectors = 'vector' | 'halfvec';
  const onServer = (pipeline: string, vectors: Vectors = 'halfvec', context = testContext(pipeline)) =>
    bed.onServer(pipeline, { index: 100, vectors }, context);
  const inFolder = (pipeline: string) => bed.inFolder(pipeline, { index: 100, vectors: 'halfvec' });

  const random = seededRandom(3);
  const anyVector = (width: number) => Float32Array.from({ length: width }, () => random() - 0.5);
  function search(store: Store, vector: Float32Array, k: number, filter = {}) {
    return store.search.search({ space, vector, k, filter: readFilter(filter) });
  }

  it('are rounded as pgvector rounds them', async () => {
    const edges = [
      0,
      1,
      -1,
      2,
      0.1,
      1 / 3,
      65_504,
      65_519.99,
      -65_519,
      2 ** -14,
      2 ** -15,
      2 ** -24,
      2 ** -25,
    ];
    const near = edges.flatMap((edge) => [
      edge,
      edge * (1 + 2 ** -11),
      edge * (1 - 2 ** -11),
      edge * (1 + 2 ** -12),
    ]);
    const sizes = Array.from({ length: 5_000 }, () => (random() - 0.5) * 2 ** (random() * 42 - 27));
    const vector = Float32Array.from([...near, 2 ** -25 * 1.0001, 3 * 2 ** -25, 5 * 2 ** -25, ...sizes]);
    const usable = vector.filter((number) => Math.abs(number) < 65_520);
    const bytes = Buffer.alloc(usable.length * 2);
    expect(writeHalves(bytes, 0, usable)).toBe(bytes.length);
    await onAdmin('create extension if not exists vector');
    const [row] = await onAdmin('select halfvec_send($1::real[]::vector::halfvec) as sent', [[...usable]]);
    expect(bytes.equals((row!['sent'] as Buffer).subarray(4))).toBe(true);
  });

  it('refuse what 16 bits cannot hold', () => {
    expect(halfFault(Float32Array.of(1, 65_519))).toBeUndefined();
    expect(halfFault(Float32Array.of(1, -65_520))).toContain('65504');
    expect(halfFault(Float32Array.of(2 ** -25, 0))).toContain('too small');
    expect(halfFault(Float32Array.of(2 ** -24, 0))).toBeUndefined();
  });

  for (const [name, open] of [
    ['a server', onServer],
    ['PGlite', inFolder],
  ] as const)
    it(`are written, kept, searched and indexed on ${name}`, async () => {
      const store = await open('plain');
      await store.prepare(layoutOf(8));
      const vectors = Array.from({ length: 150 }, () => anyVector(8));
      const write = (position: number, texts: (at: number) => string[], kept = false) =>
        store.sink.write(
          vectors.map((vector, at) =>
            storing(`d-${at}`, position, texts(at), { vector, kept, metadata: { at } }),
          ),
        );
      expect(new Set(kinds(await write(1, (at) => [`text ${at}`])))).toEqual(new Set(['done']));
      const exact = await search(store, vectors[7]!, 150);
      expect(exact[0]).toMatchObject({ documentId: 'd-7' });
      expect(exact[0]!.score).toBeCloseTo(1, 3);
      // The same chunk again, without its vector: the stored one stays, to the bit.
      expect(new Set(kinds(await write(2, (at) => [`text ${at}`], true)))).toEqual(new Set(['done']));
      expect(await search(store, vectors[7]!, 150)).toEqual(exact);
      expect(
        await store.sink.heldChunks(
          space,
          exact.map(({ chunkId }) => chunkId),
        ),
      ).toHaveProperty('size', 150);
      await store.tune();
      expect((await search(store, vectors[7]!, 5)).map(({ chunkId }) => chunkId)).toEqual(
        exact.slice(0, 5).map(({ chunkId }) => chunkId),
      );
      expect(await search(store, vectors[7]!, 3, { at: { $gte: 147 } })).toHaveLength(3);
      const bad = storing('bad', 1, ['too great'], { vector: anyVector(8).map((x) => x * 1e6) });
      const results = await store.sink.write([bad, storing('good', 1, ['good'], { vector: anyVector(8) })]);
      expect(results.map(({ kind }) => kind)).toEqual(['refused', 'done']);
      expect(codeOf(results[0])).toBe('store_refused');
      await expect(
        search(
          store,
          Float32Array.from(vectors[0]!, (x) => x * 1e6),
          1,
        ),
      ).rejects.toMatchObject({
        code: 'embedding_invalid',
      });
    });

  it('take half the room, and their index is one of halfvec', async () => {
    const store = await onServer('wide');
    await store.prepare(layoutOf(3072));
    await store.sink.write(
      Array.from({ length: 120 }, (_, at) =>
        storing(`d-${at}`, 1, [`text ${at}`], { vector: anyVector(3072) }),
      ),
    );
    await store.tune();
    const [row] = await onAdmin(
      "select max(pg_column_size(embedding_half)) as half, count(embedding)::int as whole from millrace.chunks where pipeline = 'wide'",
    );
    expect(row).toEqual({ half: 3072 * 2 + 8, whole: 0 });
    const [index] = await onAdmin(`select indexdef from pg_indexes where indexdef like '%hnsw%''wide''%'`);
    expect(index!['indexdef']).toContain('embedding_half)::halfvec(3072)) halfvec_cosine_ops');
    expect(await search(store, anyVector(3072), 10)).toHaveLength(10);
  });

  it('stay as they are when the configuration says otherwise, and the next generation is as it says', async () => {
    const before = await onServer('moved', 'vector');
    await before.prepare(layoutOf(4));
    // Empty: the choice is free.
    const context: TestContext = testContext('moved');
    const half = await onServer('moved', 'halfvec', context);
    await half.prepare(layoutOf(4));
    expect(context.notices).toEqual([]);
    await half.sink.write([storing('a', 1, ['one'], { vector: anyVector(4) })]);

    const later: TestContext = testContext('moved');
    const whole = await onServer('moved', 'vector', later);
    await whole.prepare(layoutOf(4));
    expect(later.notices).toMatchObject([{ level: 'warn', code: 'store_vectors_kept' }]);
    await whole.sink.write([storing('b', 1, ['two'], { vector: anyVector(4) })]);
    const columns = `select pipeline, count(embedding)::int as whole, count(embedding_half)::int as half
                     from millrace.chunks where pipeline like 'moved%' group by 1 order by 1`;
    expect(await onAdmin(columns)).toEqual([{ pipeline: 'moved', whole: 0, half: 2 }]);
    expect(await search(whole, anyVector(4), 5)).toHaveLength(2);

    const number = await whole.generations!.start(layoutOf(4), {});
    await whole.generations!.enlist(number);
    await whole.generations!.view(number).sink.write([storing('a', 1, ['one'], { vector: anyVector(4) })]);
    expect(await onAdmin(columns)).toEqual([
      { pipeline: 'moved', whole: 0, half: 2 },
      { pipeline: 'moved#2', whole: 1, half: 0 },
    ]);
  });
});
