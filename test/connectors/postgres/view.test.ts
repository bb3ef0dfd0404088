import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import type { Store } from '../../../src/contracts/store.js';
import { patience } from '../../suites/store-harness.js';
import { layout, layoutOf, space, storing } from '../../suites/store-samples.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';

let server: PostgresService;
let client: pg.Client;
beforeAll(async () => {
  server = await startPostgres();
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('create role reader; create role owner_of_grants');
}, patience);
afterAll(async () => {
  await client.end();
  await server.stop();
}, patience);

const open = async (pipeline: string, view?: string | false): Promise<Store> => {
  const config = postgresConfig.parse({
    url: server.url,
    connections: 2,
    ...(view !== undefined && { view }),
  });
  const store = await createPostgresStore(config, testContext(pipeline));
  await store.prepare(layout);
  return store;
};
const shown = async (view: string) =>
  (await client.query(`select text, embedding::text as embedding from millrace.${view} order by text`)).rows;
const grants = async (view: string) =>
  (
    await client.query(
      `select grantee, privilege_type, is_grantable from information_schema.role_table_grants
       where table_name = $1 and grantee in ('reader', 'owner_of_grants') order by 1, 2`,
      [view],
    )
  ).rows;

/** Fills a generation of this width with one document and switches to it. */
async function switchTo(store: Store, width: number, text: string): Promise<void> {
  const generations = store.generations!;
  const number = await generations.start(layoutOf(width), { made: 'by a test' });
  await generations.enlist(number);
  const claimed = await generations.claim(number, { after: '', limit: 10, leaseMs: 60_000 });
  const vector = Float32Array.from({ length: width }, (_, at) => at + 1);
  const write = { ...storing('a', 1, [text]), spaces: [{ space, vectors: [vector] }] };
  await generations.view(number).sink.write([write]);
  await generations.settle(number, claimed);
  await generations.pause(10_000);
  expect(await generations.switchTo(number)).toBe(true);
}

test('a view shows the chunks that are read, follows a switch, and keeps its grants and what was made of it', async () => {
  const store = await open('shown', 'shown_chunks');
  await store.sink.write([storing('a', 1, ['one'])]);
  expect(await shown('shown_chunks')).toMatchObject([{ text: 'one' }]);
  await client.query('grant select on millrace.shown_chunks to reader');
  await client.query('grant select on millrace.shown_chunks to owner_of_grants with grant option');
  await client.query('create view made_of_it as select text from millrace.shown_chunks');
  const given = await grants('shown_chunks');
  expect(given).toHaveLength(2);

  await switchTo(store, 4, 'same width');
  expect(await shown('shown_chunks')).toEqual([{ text: 'same width', embedding: '[1,2,3,4]' }]);
  expect((await client.query('select * from made_of_it')).rows).toEqual([{ text: 'same width' }]);

  // Columns of another type: what was made of it is in the way, and said.
  await expect(switchTo(store, 2, 'narrow')).rejects.toMatchObject({ code: 'generation_refused' });
  await store.generations!.resume();
  expect(await shown('shown_chunks')).toMatchObject([{ text: 'same width' }]);
  await client.query('drop view made_of_it');
  await store.generations!.pause(10_000);
  expect(await store.generations!.switchTo(3)).toBe(true);
  expect(await shown('shown_chunks')).toEqual([{ text: 'narrow', embedding: '[1,2]' }]);
  expect(await grants('shown_chunks')).toEqual(given);
  await store.close();
}, 60_000);

test('a view keeps its name from run to run, takes no name that something else has, and goes when it is told to', async () => {
  const store = await open('named', 'named_chunks');
  await store.sink.write([storing('a', 1, ['one'])]);
  await store.close();
  const again = await open('named');
  expect(await shown('named_chunks')).toHaveLength(1);
  await again.close();
  for (const taken of ['ledger', 'shown_chunks'])
    await expect(open('named', taken)).rejects.toMatchObject({ code: 'config_invalid' });
  await (await open('named', 'other_chunks')).close();
  expect(await shown('other_chunks')).toHaveLength(1);
  await expect(shown('named_chunks')).rejects.toThrow();
  await (await open('named', false)).close();
  await expect(shown('other_chunks')).rejects.toThrow();
}, 60_000);
