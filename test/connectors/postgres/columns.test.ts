import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsConfig } from '../../../connectors/postgres/config-columns.js';
import type { Store } from '../../../src/contracts/store.js';
import type { Filter } from '../../../src/elements/filter/filter.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import type { Metadata } from '../../../src/elements/metadata.js';
import { countTerms } from '../../../src/transforms/terms/count-terms.js';
import { testContext, type TestContext } from '../../support/test-context.js';
import { matches } from '../../suites/filter-reference.js';
import { anyFilter, anyMetadata } from '../../suites/filter-samples.js';
import { patience } from '../../suites/store-harness.js';
import { codeOf, kinds, layout, space, storing, vectorOf } from '../../suites/store-samples.js';
import { storeBed } from './store-bed.js';

describe('columns of metadata fields', { timeout: patience }, () => {
  const bed = storeBed();
  const { onAdmin } = bed;
  const onServer = (pipeline: string, columns: unknown, context = testContext(pipeline)) =>
    bed.onServer(pipeline, { columns }, context);
  const inFolder = (pipeline: string, columns: unknown) => bed.inFolder(pipeline, { columns });
  const write = async (store: Store, metadata: Readonly<Record<string, Metadata>>, version = 1) =>
    store.sink.write(
      Object.entries(metadata).map(([id, one]) => storing(id, version, [id], { metadata: one })),
    );
  async function find(store: Store, filter: Filter): Promise<string[]> {
    const query = { space, vector: vectorOf('q'), k: 1000, filter: readFilter(filter) };
    return (await store.search.search(query)).map(({ documentId }) => documentId).sort();
  }

  const columns = {
    lang: { type: 'text', index: true },
    price: 'numeric',
    tags: { type: 'text[]', index: true },
    published: 'timestamptz',
    done: 'boolean',
    author: { type: 'text', field: 'meta.author' },
  };
  const documents: Readonly<Record<string, Metadata>> = {
    a: {
      lang: 'en',
      price: 1.5,
      tags: ['x', 'y'],
      published: '2024-05-01T12:00:00+02:00',
      done: true,
      meta: { author: 'Al' },
    },
    b: { lang: 'de', price: '12345678901234567890.25', tags: [], published: '2024-05-02', done: false },
    c: { price: -0.0001, tags: 'z', published: '1999-12-31T23:59:59.9999999Z' },
    d: { lang: null, price: 1e21, meta: {} },
  };
  const rows = [
    {
      document_id: 'a',
      lang: 'en',
      price: '1.5',
      tags: ['x', 'y'],
      published: '2024-05-01 10:00:00',
      done: true,
      author: 'Al',
    },
    {
      document_id: 'b',
      lang: 'de',
      price: '12345678901234567890.25',
      tags: [],
      published: '2024-05-02 00:00:00',
      done: false,
      author: null,
    },
    {
      document_id: 'c',
      lang: null,
      price: '-0.0001',
      tags: ['z'],
      published: '1999-12-31 23:59:59.999999',
      done: null,
      author: null,
    },
    {
      document_id: 'd',
      lang: null,
      price: '1000000000000000000000',
      tags: null,
      published: null,
      done: null,
      author: null,
    },
  ];
  const held = (pipeline: string) =>
    onAdmin(`select document_id, lang, price, tags, (published at time zone 'UTC')::text as published, done, author
             from millrace.chunks where pipeline = '${pipeline}' order by document_id collate "C"`);

  async function checkFilters(store: Store): Promise<void> {
    expect(await find(store, { lang: 'en' })).toEqual(['a']);
    expect(await find(store, { lang: { $not: 'en' } })).toEqual(['b', 'c', 'd']);
    expect(await find(store, { lang: null })).toEqual(['d']);
    expect(await find(store, { lang: { $exists: true } })).toEqual(['a', 'b']);
    expect(await find(store, { price: { $gt: 1, $lte: 1.5 } })).toEqual(['a']);
    expect(await find(store, { price: [1.5, 1e21] })).toEqual(['a', 'd']);
    expect(await find(store, { tags: ['y', 'z'] })).toEqual(['a', 'c']);
    expect(await find(store, { tags: { $exists: false } })).toEqual(['b', 'd']);
    expect(await find(store, { published: { $gte: '2024-05-01T10:00:00Z', $lt: '2024-05-02' } })).toEqual([
      'a',
    ]);
    expect(await find(store, { done: false })).toEqual(['b']);
    expect(await find(store, { 'meta.author': 'Al', lang: 'en' })).toEqual(['a']);
  }

  for (const [name, open] of [
    ['a server', onServer],
    ['PGlite', inFolder],
  ] as const)
    it(`are written on ${name} with the chunks, follow their changes, and filters ask them`, async () => {
      const store = await open('plain', columns);
      await store.prepare(layout);
      expect(kinds(await write(store, documents))).toEqual(['done', 'done', 'done', 'done']);
      await checkFilters(store);
      await store.tune();
      await checkFilters(store);
      if (name === 'a server') {
        const filled = () => onAdmin("select filled from millrace.layout where pipeline = 'plain'");
        const whole = {
          lang: 'whole',
          price: 'whole',
          tags: 'whole',
          published: 'whole',
          done: 'whole',
          author: 'whole',
        };
        expect(await filled()).toEqual([{ filled: whole }]);
        // The same once more changes nothing.
        await (await open('plain', columns)).prepare(layout);
        expect(await filled()).toEqual([{ filled: whole }]);
        expect(await held('plain')).toEqual(rows);
        expect(
          (
            await onAdmin("select indexdef from pg_indexes where indexname like 'chunks_meta%' order by 1")
          ).map(({ indexdef }) => / USING (.*)$/.exec(indexdef as string)![1]),
        ).toEqual([
          "btree (lang) WHERE (pipeline = 'plain'::text)",
          "gin (tags) WHERE (pipeline = 'plain'::text)",
        ]);
      }
      // A number that is a text in the JSON counts as one in a column of numbers.
      expect(await find(store, { price: { $gt: 1e18 } })).toEqual(['b', 'd']);
      await write(store, { a: { lang: 'fr' }, b: {} }, 2);
      expect(await find(store, { lang: ['en', 'de'] })).toEqual([]);
      expect(await find(store, { lang: 'fr' })).toEqual(['a']);
      expect(await find(store, { price: { $exists: true } })).toEqual(['c', 'd']);
    });

  it('are refused for what their type does not hold, or stay empty', async () => {
    const store = await onServer('wrong', { price: 'numeric', lang: { type: 'text', wrong: 'null' } });
    await store.prepare(layout);
    const results = await write(store, {
      bad: { price: 'cheap' },
      good: { price: 2, lang: 7 },
      long: { lang: 'x'.repeat(3000) },
    });
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'done', 'done']);
    expect(codeOf(results[0])).toBe('store_refused');
    expect(results[0]).toHaveProperty(
      'error.message',
      expect.stringContaining('metadata field price does not hold a number'),
    );
    await store.tune();
    // What the column has not got, filters find in the JSON.
    expect(await find(store, { lang: 7 })).toEqual(['good']);
    expect(await find(store, { lang: 'x'.repeat(3000) })).toEqual(['long']);
    expect(await find(store, { lang: { $exists: true } })).toEqual(['good', 'long']);
  });

  it('come to a store that is full, filled from its JSON, while a writer of before goes on', async () => {
    const before = await onServer('grown', {});
    await before.prepare(layout);
    await write(before, documents);
    const context: TestContext = testContext('grown');
    const after = await onServer('grown', columns, context);
    await after.prepare(layout);
    await checkFilters(after);
    // It was prepared without the columns, and must not leave them behind.
    await write(before, { a: { ...documents['a'], lang: 'it' }, e: { lang: 'it' } }, 2);
    expect(await find(after, { lang: 'it' })).toEqual(['a', 'e']);
    await write(before, { a: documents['a']!, e: { lang: 'en', price: 'no number' } }, 3).then((results) =>
      expect(results.map(({ kind }) => kind)).toEqual(['done', 'refused']),
    );
    await after.tune();
    expect(context.notices).toEqual([]);
    expect((await held('grown')).slice(0, 4)).toEqual(rows);
    await write(after, { e: {} }, 4);
    expect(await find(after, { lang: 'en' })).toEqual(['a']);
  });

  it('tell of chunks of before that do not fit, and find these all the same', async () => {
    const before = await onServer('mixed', {});
    await before.prepare(layout);
    await write(before, { a: { lang: 'en' }, b: { lang: ['en', 'de'] }, c: { lang: 5 } });
    const context: TestContext = testContext('mixed');
    const after = await onServer('mixed', { lang: 'text' }, context);
    await after.prepare(layout);
    await after.tune();
    expect(context.notices).toMatchObject([{ level: 'warn', code: 'store_column_mixed' }]);
    expect(context.notices[0]!.message).toContain('2 chunks');
    expect(await find(after, { lang: 'en' })).toEqual(['a', 'b']);
    expect(await find(after, { lang: { $not: 'en' } })).toEqual(['c']);
    await after.tune();
    expect(context.notices).toHaveLength(1);
  });

  it('stay until they are said to drop, and say so when they are given another meaning', async () => {
    const first = await onServer('kept', { kind: 'text', size: 'numeric' });
    await first.prepare(layout);
    await write(first, { a: { kind: 'x', size: 1 } });
    const without = await onServer('kept', {});
    await without.prepare(layout);
    await write(without, { b: { kind: 'y', size: 2 } });
    const held = () =>
      onAdmin("select document_id, kind, size from millrace.chunks where pipeline = 'kept' order by 1");
    expect(await held()).toEqual([
      { document_id: 'a', kind: 'x', size: '1' },
      { document_id: 'b', kind: 'y', size: '2' },
    ]);
    for (const other of [{ kind: 'boolean' }, { kind: { type: 'text', field: 'other' } }])
      await expect((await onServer('kept', other)).prepare(layout)).rejects.toMatchObject({
        code: 'store_layout',
      });
    // Another pipeline of the schema has the table too.
    await expect(
      onServer('neighbour', { kind: 'boolean' }).then((store) => store.prepare(layout)),
    ).rejects.toMatchObject({ code: 'store_layout' });
    const shares = await onServer('shares', { size: 'numeric' });
    await shares.prepare(layout);

    const dropping = await onServer('kept', { kind: 'drop', size: 'drop' });
    await dropping.prepare(layout);
    await write(without, { c: { kind: 'z', size: 3 } });
    expect(await find(without, { kind: 'z' })).toEqual(['c']);
    const [row] = await onAdmin(
      "select array_agg(column_name::text order by column_name) as names from information_schema.columns where table_name = 'chunks' and column_name in ('kind', 'size')",
    );
    expect(row).toEqual({ names: ['size'] });
  });

  it('mean in filters what the JSON means, over random documents', async () => {
    const store = await onServer('random', {
      col_a: { type: 'text', field: 'a', wrong: 'null', index: true },
      col_b: { type: 'text[]', field: 'b', wrong: 'null' },
      col_o: { type: 'timestamptz', field: 'o', wrong: 'null' },
      col_d: { type: 'boolean', field: 'a\\.b', wrong: 'null' },
      col_oa: { type: 'text', field: 'o.a', wrong: 'null' },
    });
    await store.prepare({ ...layout, terms: true });
    const random = Object.fromEntries(
      fc.sample(anyMetadata, { numRuns: 200, seed: 9 }).map((metadata, at) => [`r-${at}`, metadata]),
    );
    const writes = Object.entries(random).map(([id, metadata]) => {
      const one = storing(id, 1, [`word ${id}`], { metadata });
      return { ...one, chunks: one.chunks.map((chunk) => ({ ...chunk, terms: countTerms(chunk.text) })) };
    });
    expect(new Set(kinds(await store.sink.write(writes)))).toEqual(new Set(['done']));
    await store.tune();
    let telling = 0;
    await fc.assert(
      fc.asyncProperty(anyFilter, async (filter) => {
        const wanted = Object.keys(random)
          .filter((id) => matches(readFilter(filter), { doc: id, ...random[id] }))
          .sort();
        expect(await find(store, filter)).toEqual(wanted);
        if (wanted.length > 0 && wanted.length < 200) telling += 1;
        const query = { terms: countTerms('word'), k: 1000, k1: 1.2, b: 0.75, filter: readFilter(filter) };
        const byWords = await store.search.searchTerms!(query);
        expect(byWords.map(({ documentId }) => documentId).sort()).toEqual(wanted);
      }),
      { numRuns: 80, seed: 4 },
    );
    expect(telling).toBeGreaterThan(25);
  });

  it('need names that are free and types that there are', () => {
    for (const config of [
      { text: 'text' },
      { Upper: 'text' },
      { lang: 'int' },
      { embedding_9: 'text' },
      { lang: { type: 'text', filed: 'x' } },
    ])
      expect(columnsConfig.safeParse(config).success).toBe(false);
  });
});
