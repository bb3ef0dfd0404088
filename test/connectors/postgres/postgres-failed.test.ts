import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresFailedConfig } from '../../../connectors/postgres/config.js';
import { openPostgresFailed } from '../../../connectors/postgres/failed.js';
import { freePort } from '../../support/services/free-port.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';
import { failedRecord, failedStoreSuite, recordsOf } from '../../suites/failed-store-suite.js';
import { loseNothingToKills } from '../../suites/killed-writers.js';
import { patience } from '../../suites/store-harness.js';

let server: PostgresService;
let schemas = 0;
beforeAll(async () => {
  server = await startPostgres();
}, patience);
afterAll(() => server?.stop(), patience);

const openAt = async (schema: string, pipeline = 'handbook') =>
  openPostgresFailed(postgresFailedConfig.parse({ url: server.url, schema }), testContext(pipeline));

async function asAdmin(sql: string) {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

failedStoreSuite('a Postgres table', {
  async place() {
    schemas += 1;
    const schema = `Fail"ed${schemas}`;
    return (pipeline) => openAt(schema, pipeline);
  },
});

test('looking makes no table, and several writers make it once', async () => {
  const stores = await Promise.all([1, 2, 3].map(() => openAt('made')));
  expect(await recordsOf(stores[0]!)).toEqual([]);
  expect(await stores[0]!.expire('2030-01-01T00:00:00.000Z')).toBe(0);
  expect((await asAdmin("select from pg_namespace where nspname = 'made'")).rowCount).toBe(0);
  await Promise.all(stores.map((store, at) => store.put([failedRecord(`d${at}`)])));
  expect((await recordsOf(stores[0]!)).length).toBe(3);
  await Promise.all(stores.map((store) => store.close()));
});

test('more records than a page are listed, each once', async () => {
  const store = await openAt('many');
  await store.put(Array.from({ length: 2_500 }, (_, at) => failedRecord(`d${String(at).padStart(4, '0')}`)));
  expect(new Set((await recordsOf(store)).map(({ documentId }) => documentId)).size).toBe(2_500);
  expect((await recordsOf(store, { idPrefix: 'd00' })).length).toBe(100);
  await store.close();
});

test('a server that is away refuses, and one that is back takes what is put again', async () => {
  const store = await openAt('away');
  await store.put([failedRecord('a')]);
  await server.restart();
  const put = (id: string) =>
    store.put([failedRecord(id)]).then(
      () => 'done',
      ({ code }: { code: string }) => code,
    );
  // A connection of before the restart is found dead at its next use.
  expect(['done', 'failed_sink_unavailable']).toContain(await put('b'));
  await expect.poll(() => put('b')).toBe('done');
  expect((await recordsOf(store)).length).toBe(2);
  await asAdmin('drop schema away cascade');
  expect(await put('c')).toBe('failed_sink_unavailable');
  expect(await put('c')).toBe('done');
  expect(await recordsOf(store)).toEqual([failedRecord('c')]);
  await store.close();
  const url = `postgres://postgres@127.0.0.1:${await freePort()}/x`;
  const nobody = await openPostgresFailed(postgresFailedConfig.parse({ url }), testContext('handbook'));
  await expect(nobody.put([failedRecord('a')])).rejects.toMatchObject({ code: 'failed_sink_unavailable' });
  await nobody.close();
});

test('a role that may write the table but not make it can be used', async () => {
  const admin = await openAt('granted');
  await admin.put([failedRecord('a')]);
  await asAdmin(
    'create role writer login; grant usage on schema granted to writer; grant select, insert, update, delete on granted.failed to writer',
  );
  const url = server.url.replace('postgres@', 'writer@');
  const store = await openPostgresFailed(
    postgresFailedConfig.parse({ url, schema: 'granted' }),
    testContext('handbook'),
  );
  await store.put([failedRecord('b')]);
  expect((await recordsOf(store)).length).toBe(2);
  expect(await store.discard([failedRecord('a')])).toBe(1);
  await Promise.all([store.close(), admin.close()]);
});

test('processes that are killed while they put lose nothing that was put', async () => {
  const store = await openAt('killed');
  await loseNothingToKills('postgres', { url: server.url, schema: 'killed' }, store);
  await store.close();
}, 60_000);
