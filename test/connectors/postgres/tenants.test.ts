import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnsConfig } from '../../../connectors/postgres/config-columns.js';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import type { Store } from '../../../src/contracts/store.js';
import type { Filter } from '../../../src/elements/filter/filter.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';
import { patience } from '../../suites/store-harness.js';
import { codeOf, deleting, kinds, layout, space, storing, vectorOf } from '../../suites/store-samples.js';

describe('tenants on Postgres', { timeout: patience }, () => {
  let server: PostgresService;
  const stores: Store[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  }, patience);
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server?.stop();
  }, patience);

  const open = async (pipeline: string, options: object) => {
    const config = postgresConfig.parse({ url: server.url, connections: 2, ...options });
    const store = await createPostgresStore(config, testContext(pipeline));
    stores.push(store);
    return store;
  };
  const onAdmin = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return (await client.query(sql).finally(() => client.end())).rows as Record<string, unknown>[];
  };
  const fill = async (store: Store, tenant: string | undefined, count: number) => {
    const writes = Array.from({ length: count }, (_, at) =>
      storing(`${tenant}-${at}`, 1, [`${tenant} ${at}`], {
        metadata: tenant === undefined ? {} : { org: tenant, at },
      }),
    );
    expect(new Set(kinds(await store.sink.write(writes)))).toEqual(new Set(['done']));
  };
  const find = async (store: Store, filter: Filter, k: number, text = 'q') =>
    (await store.search.search({ space, vector: vectorOf(text), k, filter: readFilter(filter) })).map(
      ({ documentId }) => documentId,
    );
  const indexes = async (pipeline: string) =>
    (await onAdmin(`select indexdef from pg_indexes where indexdef like '%hnsw%''${pipeline}%'`))
      .map(({ indexdef }) => /WHERE (.*)$/.exec(indexdef as string)![1])
      .sort();
  const scans = async () =>
    Number(
      (
        await onAdmin(
          "select sum(idx_scan)::int as n from pg_stat_user_indexes where indexrelname like 'chunks_hnsw%\\_t%'",
        )
      )[0]!['n'],
    );

  it('with many chunks have an index of their own, and each is found whole and alone', async () => {
    const store = await open('orgs', { tenant: 'org', index: 100 });
    await store.prepare(layout);
    expect(store.tenant).toEqual(['org']);
    await fill(store, 'large', 150);
    await fill(store, "o'brien", 120);
    await fill(store, 'small', 20);
    await fill(store, undefined, 5);
    await store.tune();
    expect(await indexes('orgs')).toEqual([
      expect.stringContaining("tenant = 'large'::text"),
      expect.stringContaining("tenant = 'o''brien'::text"),
    ]);
    const before = await scans();
    const reader = await open('orgs', { tenant: 'org', index: 100 });
    for (const [tenant, count] of [
      ['large', 150],
      ["o'brien", 120],
      ['small', 20],
      ['nobody', 0],
    ] as const) {
      const all = await find(reader, { org: tenant }, 1000);
      expect(all).toHaveLength(count);
      expect(all.every((id) => id.startsWith(`${tenant}-`))).toBe(true);
      if (count > 0) expect((await find(reader, { org: tenant }, 3, `${tenant} 7`))[0]).toBe(`${tenant}-7`);
      expect(await find(reader, { org: tenant, at: { $lt: 4 } }, 10)).toHaveLength(Math.min(4, count));
    }
    // A connection tells what it used at its end.
    await reader.close();
    await expect.poll(scans).toBeGreaterThan(before);
    expect(await find(store, {}, 1000)).toHaveLength(295);
    // Documents that change their tenant are found there alone.
    await store.sink.write([
      storing('large-7', 2, ['large 7'], { metadata: { org: 'small' } }),
      deleting('large-8', 2),
    ]);
    expect(await find(store, { org: 'large' }, 1000)).toHaveLength(148);
    expect(await find(store, { org: 'small' }, 1000)).toHaveLength(21);
    expect(await find(store, { org: 'large' }, 1, 'large 7')).not.toEqual(['large-7']);
  });

  it('come to a store that is full, and go with the indexes of a generation', async () => {
    const before = await open('grown', { index: 'off' });
    await before.prepare(layout);
    await fill(before, 'large', 120);
    const store = await open('grown', { tenant: 'org', index: 100 });
    await store.prepare(layout);
    expect(await find(store, { org: 'large' }, 1000)).toHaveLength(120);
    await store.tune();
    expect(await indexes('grown')).toHaveLength(1);
    expect(await find(store, { org: 'large' }, 1000)).toHaveLength(120);
    const number = await store.generations!.start(layout, {});
    const view = store.generations!.view(number);
    await fill({ ...store, sink: view.sink }, 'large', 120);
    await view.tune();
    expect(await indexes('grown')).toHaveLength(2);
    await store.generations!.drop(number);
    expect(await indexes('grown')).toHaveLength(1);
  });

  it('are named by a text: another value fails its document', async () => {
    const store = await open('wrong', { tenant: 'org.id' });
    await store.prepare(layout);
    const results = await store.sink.write([
      storing('a', 1, ['a'], { metadata: { org: { id: 7 } } }),
      storing('b', 1, ['b'], { metadata: { org: { id: 'x' } } }),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'done']);
    expect(codeOf(results[0])).toBe('store_refused');
    expect(columnsConfig.safeParse({ tenant: 'text' }).success).toBe(false);
    expect(columnsConfig.safeParse({ tenant: 'drop' }).success).toBe(true);
  });
});
