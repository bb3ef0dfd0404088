import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/contracts/store.js';
import type { StoreWrite } from '../../../src/contracts/sink.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import { openPgConnection } from '../../../connectors/postgres/pg-connection.js';
import { deleting, layoutOf, space, storing } from '../../suites/store-samples.js';
import { patience } from '../../suites/store-harness.js';
import { testContext, type TestContext } from '../../support/test-context.js';
import { storeBed } from './store-bed.js';

describe('the vector index', { timeout: patience }, () => {
  const bed = storeBed();
  const { onAdmin } = bed;
  type Index = 'auto' | 'off' | number;
  const onServer = (pipeline: string, index: Index, schema = 'millrace', context = testContext(pipeline)) =>
    bed.onServer(pipeline, { schema, index }, context);
  const inFolder = (pipeline: string, index: Index) => bed.inFolder(pipeline, { index });

  /** Vectors on a circle through the first two axes: neighbours are known. */
  const circle = (count: number, width: number, prefix = ''): StoreWrite[] =>
    Array.from({ length: count }, (_, i) => {
      const vector = new Float32Array(width);
      vector[0] = Math.cos((2 * Math.PI * i) / count);
      vector[1] = Math.sin((2 * Math.PI * i) / count);
      return storing(`${prefix}d-${i}`, 1, [`text ${i}`], { vector, metadata: { rare: i % 100 === 0 } });
    });

  async function checkSearches(store: Store, count: number, width: number): Promise<void> {
    const query = new Float32Array(width);
    query[0] = 1;
    const nearest = await store.search.search({ space, vector: query, k: 5 });
    expect(nearest.map(({ documentId }) => documentId)[0]).toBe('d-0');
    expect(new Set(nearest.map(({ documentId }) => documentId))).toEqual(
      new Set(['d-0', 'd-1', 'd-2', `d-${count - 1}`, `d-${count - 2}`]),
    );
    const rare = await store.search.search({
      space,
      vector: query,
      k: count / 100,
      filter: readFilter({ rare: true }),
    });
    expect(rare).toHaveLength(count / 100);
    const beyond = await store.search.search({
      space,
      vector: query,
      k: count,
      filter: readFilter({ rare: true }),
    });
    expect(beyond).toHaveLength(count / 100);
    expect(await store.search.search({ space, vector: query, k: count })).toHaveLength(count);
  }

  for (const [name, open] of [
    ['a server', onServer],
    ['PGlite', inFolder],
  ] as const)
    it(`is built on ${name} from the configured size, and a filtered search still finds all`, async () => {
      const store = await open('sized', 500);
      await store.prepare(layoutOf(8));
      const writes = circle(600, 8);
      await store.sink.write(writes.slice(0, 499));
      await store.tune();
      if (name === 'a server') expect(await indexes('sized')).toEqual([]);
      await store.sink.write(writes.slice(499));
      await store.tune();
      await store.tune();
      if (name === 'a server') expect(await indexes('sized')).toHaveLength(1);
      await checkSearches(store, 600, 8);
      await store.sink.write([
        { ...storing('d-0', 2, ['moved'], { vector: circle(600, 8)[300]!.spaces[0]!.vectors[0]! }) },
      ]);
      const query = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
      const [first] = await store.search.search({ space, vector: query, k: 1 });
      expect(['d-1', 'd-599']).toContain(first!.documentId);
    });

  const indexes = (pipeline: string) =>
    onAdmin(
      `select indexdef from pg_indexes where schemaname = 'millrace' and indexdef like '%hnsw%' and indexdef like '%''${pipeline}''%'`,
    );

  it('is built with as much memory as its graph needs, and the session goes back to its own', async () => {
    const connection = openPgConnection(
      { url: bed.url, connections: 1, timeoutMs: 10_000 },
      testContext('memory'),
    );
    const text = "select current_setting('maintenance_work_mem') as memory";
    const shown = async (settings: Record<string, string>) =>
      (await connection.query({ text, settings }))[0]!['memory'];
    expect(await shown({ maintenance_work_mem: '123MB' })).toBe('123MB');
    expect(await shown({})).toBe('64MB');
    await expect(
      connection.query({ text: 'select 1 / 0', settings: { maintenance_work_mem: '99MB' } }),
    ).rejects.toThrow();
    expect(await shown({})).toBe('64MB');
    await connection.close();
  });

  it('is made anew when a build that was cut off left one that nobody can use', async () => {
    const store = await onServer('cut-off', 100);
    await store.prepare(layoutOf(8));
    await store.sink.write(circle(200, 8));
    await store.tune();
    const valid = `select i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
                   where pg_get_indexdef(i.indexrelid) like '%''cut-off''%' and c.relname like 'chunks_hnsw%'`;
    expect(await onAdmin(valid)).toEqual([{ valid: true }]);
    await onAdmin(
      `update pg_index set indisvalid = false where pg_get_indexdef(indexrelid) like '%''cut-off''%'`,
    );
    await checkSearches(store, 200, 8);
    await store.tune();
    expect(await onAdmin(valid)).toEqual([{ valid: true }]);
    await checkSearches(store, 200, 8);
  });

  it('is built for each space by itself, once it has chunks enough', async () => {
    const store = await onServer('spaces', 500);
    await store.prepare({ spaces: [layoutOf(8).spaces[0]!, { name: 'en', width: 16 }] });
    const inSpace = (name: string, writes: readonly StoreWrite[]) =>
      writes.map((write) => ({
        ...write,
        spaces: [{ space: name, vectors: write.spaces[0]!.vectors }],
      }));
    const put = async (name: string, writes: readonly StoreWrite[]) => {
      const results = await store.sink.write(inSpace(name, writes));
      expect(results.every(({ kind }) => kind === 'done')).toBe(true);
    };
    await put('en', circle(600, 16, 'en/'));
    await put(space, circle(100, 8));
    await store.tune();
    const [only, ...more] = await indexes('spaces');
    expect(more).toEqual([]);
    expect((only as { indexdef: string }).indexdef).toContain('embedding_2)::vector(16)');
    const query = new Float32Array(16);
    query[0] = 1;
    const nearest = async (name: string, k: number) => {
      const vector = query.slice(0, name === 'en' ? 16 : 8);
      return (await store.search.search({ space: name, vector, k })).map(({ documentId }) => documentId);
    };
    expect(await nearest('en', 1)).toEqual(['en/d-0']);
    expect(await nearest('en', 1_000)).toHaveLength(600);
    expect(await nearest(space, 1_000)).toHaveLength(100);

    await put(space, circle(600, 8, 'more/'));
    await store.tune();
    expect(await indexes('spaces')).toHaveLength(2);
    expect((await nearest(space, 2)).sort()).toEqual(['d-0', 'more/d-0']);
    // A document that changes its space is found by the index of the new one alone.
    await put(space, [storing('en/d-0', 2, ['text 0'], { vector: query.slice(0, 8) })]);
    expect(['en/d-1', 'en/d-599']).toContain((await nearest('en', 1))[0]);
    expect(await nearest(space, 3)).toContain('en/d-0');
  });

  it('goes with the spaces of a pipeline that is empty, and comes with its new ones', async () => {
    const store = await onServer('emptied', 100);
    await store.prepare(layoutOf(8));
    await store.sink.write(circle(200, 8));
    await store.tune();
    expect(await indexes('emptied')).toHaveLength(1);
    await store.sink.write(circle(200, 8).map(({ documentId }) => deleting(documentId, 2)));
    await store.prepare(layoutOf(4));
    expect(await indexes('emptied')).toEqual([]);
    const results = await store.sink.write([
      storing('d-0', 3, ['new'], { vector: Float32Array.of(1, 2, 3, 4) }),
    ]);
    expect(results).toMatchObject([{ kind: 'done' }]);
  });

  it('is built in half precision for vectors of more than 2,000 components', async () => {
    const store = await onServer('wide', 100);
    await store.prepare(layoutOf(3072));
    await store.sink.write(circle(200, 3072));
    await store.tune();
    const [index] = await indexes('wide');
    expect((index as { indexdef: string }).indexdef).toContain('halfvec(3072)');
    await checkSearches(store, 200, 3072);
  });

  it('is refused before anything is made when vectors are too wide for it', async () => {
    const store = await onServer('too-wide', 100, 'untouched');
    await expect(store.prepare(layoutOf(4096))).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(store.prepare(layoutOf(20_000))).rejects.toMatchObject({ code: 'config_invalid' });
    const other = await onServer('too-wide', 'auto', 'untouched');
    await expect(other.prepare(layoutOf(20_000))).rejects.toMatchObject({ code: 'store_layout' });
    expect(await onAdmin("select from information_schema.schemata where schema_name = 'untouched'")).toEqual(
      [],
    );
  });

  it('is left out, with a notice, where nobody asked for it by number', async () => {
    const context: TestContext = testContext('auto-wide');
    const store = await onServer('auto-wide', 'auto', 'millrace', context);
    await store.prepare(layoutOf(4096));
    expect(context.notices).toMatchObject([{ level: 'warn', code: 'store_not_indexable' }]);
    await store.sink.write(circle(100, 4096));
    await store.tune();
    await checkSearches(store, 100, 4096);
  });

  it('is not built when it is off', async () => {
    const store = await onServer('none', 'off');
    await store.prepare(layoutOf(8));
    await store.sink.write(circle(600, 8));
    await store.tune();
    expect(await indexes('none')).toEqual([]);
    await checkSearches(store, 600, 8);
  });
});
