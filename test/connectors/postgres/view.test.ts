import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columnsConfig, wantedColumns } from '../../../connectors/postgres/config-columns.js';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { openPgConnection } from '../../../connectors/postgres/pg-connection.js';
import { openPgliteConnection } from '../../../connectors/postgres/pglite-connection.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import { createSqlStore } from '../../../connectors/postgres/sql-store.js';
import type { Store } from '../../../src/contracts/store.js';
import type { Metadata } from '../../../src/elements/metadata.js';
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

const open = async (pipeline: string, view?: string | false, columns = {}): Promise<Store> => {
  const config = postgresConfig.parse({
    url: server.url,
    connections: 2,
    columns,
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
async function switchTo(store: Store, width: number, text: string, metadata: Metadata = {}): Promise<void> {
  const generations = store.generations!;
  const number = await generations.start(layoutOf(width), { made: 'by a test' });
  await generations.enlist(number);
  const claimed = await generations.claim(number, { after: '', limit: 10, leaseMs: 60_000 });
  const vector = Float32Array.from({ length: width }, (_, at) => at + 1);
  const write = { ...storing('a', 1, [text], { metadata }), spaces: [{ space, vectors: [vector] }] };
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

describe.each(['a server', 'a folder'] as const)('the view on %s', (where) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-view-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('shows metadata fields that have a column, as columns come and go, and keeps its grants and what was made of it', async () => {
    const pipeline = 'columned';
    const context = testContext(pipeline, folder);
    const connection =
      where === 'a server'
        ? openPgConnection(postgresConfig.parse({ url: server.url }), context)
        : openPgliteConnection(folder, context);
    const started = async (columns: object, view?: string) => {
      const options = {
        ...({ schema: 'millrace', index: 'auto', vectors: 'vector', keepText: undefined, view } as const),
        columns: wantedColumns(columnsConfig.parse(columns), undefined),
        autoIndex: 1_000_000,
        shared: false,
      };
      // The connection serves one store after the other.
      const store = createSqlStore({ ...connection, close: async () => undefined }, options, context);
      await store.prepare(layout);
      return store;
    };
    const sql = (text: string) => connection.query({ text });
    const columnsOf = async (view: string) => Object.keys((await sql(`select * from millrace.${view}`))[0]!);
    const fixed = ['id', 'document_id', 'ordinal', 'start', 'end', 'tokens', 'text', 'metadata', 'embedding'];
    const reads = async () =>
      (
        await sql(
          `select string_agg(distinct pg_get_userbyid(grantee)::text, ',') as who from pg_class,
             lateral aclexplode(relacl) as g where relname = 'columned_chunks' and privilege_type = 'SELECT' and is_grantable`,
        )
      )[0]!['who'];

    const first = await started({ lang: 'text' }, 'columned_chunks');
    await first.sink.write([
      storing('a', 1, ['one'], { metadata: { lang: 'en', price: '0.10', done: true } }),
    ]);
    expect(await columnsOf('columned_chunks')).toEqual([...fixed, 'lang']);
    await sql('create role asks');
    await sql('grant select on millrace.columned_chunks to asks with grant option');
    await sql('create view millrace.languages as select lang from millrace.columned_chunks');

    // More columns: added in place, so what was made of it stays.
    const more = await started({ lang: 'text', price: { type: 'numeric', index: true }, done: 'boolean' });
    await more.tune();
    expect(await columnsOf('columned_chunks')).toEqual([...fixed, 'lang', 'price', 'done']);
    expect(await sql('select lang, price::text, done from millrace.columned_chunks where price < 1')).toEqual(
      [{ lang: 'en', price: '0.10', done: true }],
    );
    expect(await sql('select * from millrace.languages')).toEqual([{ lang: 'en' }]);

    // One goes: the view is made anew.
    await expect(started({ lang: 'text', price: 'drop' })).rejects.toMatchObject({ code: 'store_layout' });
    expect(await columnsOf('columned_chunks')).toEqual([...fixed, 'lang', 'price', 'done']);
    await sql('drop view millrace.languages');
    await started({ lang: 'text', price: 'drop' });
    expect(await columnsOf('columned_chunks')).toEqual([...fixed, 'lang', 'done']);
    expect(await reads()).toMatch(/asks/);

    await switchTo(more, 2, 'narrow', { lang: 'de', done: false });
    expect(await sql('select text, lang, done, embedding::text as e from millrace.columned_chunks')).toEqual([
      { text: 'narrow', lang: 'de', done: false, e: '[1,2]' },
    ]);
    expect(await reads()).toMatch(/asks/);
    await connection.close();
  }, 60_000);
});

test('a view that was made before columns were shown gets them at the next start', async () => {
  const store = await open('before', 'before_chunks', { lang: 'text' });
  await store.sink.write([storing('a', 1, ['one'], { metadata: { lang: 'en' } })]);
  await store.close();
  await client.query(`drop view millrace.before_chunks`);
  await client.query(
    `create view millrace.before_chunks as select id, document_id, ordinal, "start", "end", tokens, text, metadata,
       embedding::vector(2) as embedding from millrace.chunks where pipeline = 'before'`,
  );
  await client.query(
    `comment on view millrace.before_chunks is 'Chunks of the pipeline before that are read now; made by Millrace.'`,
  );
  await (await open('before')).close();
  expect((await client.query('select text, lang from millrace.before_chunks')).rows).toEqual([
    { text: 'one', lang: 'en' },
  ]);

  // Somebody else's by now: left as it is, where columns change and where the view shall go.
  await client.query('drop view millrace.before_chunks');
  await client.query('create view millrace.before_chunks as select 1 as one');
  await (await open('before', undefined, { lang: 'text', done: 'boolean' })).close();
  await (await open('before', false)).close();
  expect((await client.query('select * from millrace.before_chunks')).rows).toEqual([{ one: 1 }]);
}, 60_000);
