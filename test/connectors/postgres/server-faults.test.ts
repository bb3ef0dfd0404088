import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/contracts/store.js';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { kinds, layout, space, storing, textsOf, vectorOf } from '../../suites/store-samples.js';
import { patience } from '../../suites/store-harness.js';
import { testContext } from '../../support/test-context.js';

describe('a Postgres store', { timeout: patience }, () => {
  let server: PostgresService;
  const stores: Store[] = [];
  const open = async (pipeline: string, url = server.url) => {
    const context = testContext(pipeline);
    const config = postgresConfig.parse({ url, index: 'off' });
    const store = await createPostgresStore(config, context);
    stores.push(store);
    return { store, context };
  };
  const asAdmin = async (sql: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return client.query(sql, values).finally(() => client.end());
  };

  beforeAll(async () => {
    server = await startPostgres();
  }, patience);
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server?.stop();
  }, patience);

  it('survives the loss of its idle connections and says so', async () => {
    const { store, context } = await open('idle');
    await store.prepare(layout);
    await store.sink.write([storing('a', 1, ['one'])]);
    await server.restart();
    await until(() => context.notices.some(({ code }) => code === 'store_connection_lost'));
    expect(await textsOf(store, 'a')).toEqual(['one']);
    expect(kinds(await store.sink.write([storing('a', 2, ['two'])]))).toEqual(['done']);
  });

  it('fails a write with store_unavailable when its connection is cut, and takes it when it comes again', async () => {
    const { store } = await open('cut');
    await store.prepare(layout);
    await store.sink.write([storing('a', 1, ['one'])]);
    // Another session holds the document, so the write waits inside its transaction.
    const blocker = new pg.Client({ connectionString: server.url });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query("select from millrace.ledger where pipeline = 'cut' for update");
    const writing = store.sink.write([storing('a', 2, ['two'])]);
    const rejected = expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
    await until(async () => (await terminateWaiting()) > 0);
    await rejected;
    await blocker.query('rollback');
    await blocker.end();
    expect(await textsOf(store, 'a')).toEqual(['one']);
    expect(kinds(await store.sink.write([storing('a', 2, ['two'])]))).toEqual(['done']);
    expect(await textsOf(store, 'a')).toEqual(['two']);

    async function terminateWaiting(): Promise<number> {
      const { rowCount } = await asAdmin(
        "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'millrace'",
      );
      return rowCount ?? 0;
    }
  });

  it('stops a write that waits when its signal aborts, and the server forgets it', async () => {
    const { store } = await open('abort');
    await store.prepare(layout);
    await store.sink.write([storing('a', 1, ['one'])]);
    const blocker = new pg.Client({ connectionString: server.url });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query("select from millrace.ledger where pipeline = 'abort' for update");
    const stop = new AbortController();
    const writing = store.sink.write([storing('a', 2, ['two'])], stop.signal);
    const waiting = async () =>
      (
        await asAdmin(
          "select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'millrace'",
        )
      ).rowCount;
    await until(async () => (await waiting()) === 1);
    const reason = new Error('stop');
    stop.abort(reason);
    await expect(writing).rejects.toBe(reason);
    await until(async () => (await waiting()) === 0);
    await blocker.query('rollback');
    await blocker.end();
    expect(await textsOf(store, 'a')).toEqual(['one']);
  });

  it('tries again by itself after a deadlock', async () => {
    const { store } = await open('deadlock');
    await store.prepare(layout);
    await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['one'])]);
    // A stranger that locks in the other order than ours, and would rather wait longer than we do.
    const stranger = new pg.Client({ connectionString: server.url });
    await stranger.connect();
    await stranger.query("begin; set local deadlock_timeout = '20s'");
    const lock = (id: string) =>
      stranger.query(
        "select from millrace.ledger where pipeline = 'deadlock' and document_id = $1 for update",
        [id],
      );
    await lock('b');
    const writing = store.sink.write([storing('a', 2, ['two']), storing('b', 2, ['two'])]);
    await until(async () => {
      const { rowCount } = await asAdmin(
        "select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'millrace'",
      );
      return rowCount === 1;
    });
    await lock('a');
    await stranger.query('commit');
    await stranger.end();
    expect(kinds(await writing)).toEqual(['done', 'done']);
    // A server tells its statistics some seconds later.
    const deadlocks = async () =>
      (await asAdmin('select deadlocks::int from pg_stat_database where datname = current_database()'))
        .rows[0].deadlocks as number;
    await expect.poll(deadlocks).toBeGreaterThan(0);
  });

  it('says store_unavailable, with a hint, when it cannot be reached or lets nobody in', async () => {
    const { store: nowhere } = await open('x', 'postgres://postgres@127.0.0.1:1/postgres');
    await expect(nowhere.count()).rejects.toMatchObject({
      code: 'store_unavailable',
      hint: expect.stringContaining('running'),
    });
    const { store: noDatabase } = await open('x', server.url.replace(/postgres$/, 'missing'));
    await expect(noDatabase.count()).rejects.toMatchObject({
      code: 'store_unavailable',
      hint: expect.stringContaining('database'),
    });
  });

  it('never shows a password', async () => {
    const { store } = await open('x', 'postgres://postgres:s3cret@127.0.0.1:1/postgres');
    const error: unknown = await store.count().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_unavailable' });
    expect(String(error)).not.toContain('s3cret');
  });

  it('does not take the tables of a newer Millrace', async () => {
    const { store } = await open('newer');
    await store.prepare(layout);
    await store.sink.write([storing('a', 1, ['one'])]);
    await asAdmin("update millrace.layout set version = 99 where pipeline = 'newer'");
    const { store: old } = await open('newer');
    await expect(old.prepare(layout)).rejects.toMatchObject({
      code: 'store_layout',
      hint: expect.stringContaining('newer'),
    });
    await expect(old.search.search({ space, vector: vectorOf('q'), k: 1 })).rejects.toMatchObject({
      code: 'store_layout',
    });
    await asAdmin("update millrace.layout set version = 2 where pipeline = 'newer'");
  });
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('It did not happen within 20 s.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
