import { afterAll, beforeAll, expect, test } from 'vitest';
import { usePglite } from '../../../promises/bed.js';
import { patience } from '../../../suites/store-harness.js';
import { startCdcServer, type CdcServer } from './bed.js';

const openBed = usePglite();
let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

/** Connections that the server sends changes to; it hears of the end of one a little later. */
const readers = async () => (await server.sql('select from pg_stat_replication')).rowCount;

const noise = (salt: string) =>
  `(select string_agg(md5(n || '${salt}'), ' ') from generate_series(1, 300) n)`;

test('rows become chunks; changes, deletions and truncation follow; nothing unchanged is embedded again', async () => {
  await server.sql(
    'create table notes (id int primary key, body text, views int)',
    "insert into notes values (1, 'Ants dig.', 0), (2, 'Bees fly.', 0), (3, 'Cows graze.', 0)",
    `insert into notes values (4, ${noise('a')}, 0)`,
  );
  const bed = await openBed();
  const input = { source: { postgres: { url: server.url, table: 'notes', text: 'body', metadata: [] } } };
  const run = () => bed.run({ input, watch: false });
  expect((await run()).outcomes).toMatchObject({ stored: 4, failed: 0 });
  await server.sql(
    "update notes set body = 'Ants march.' where id = 1",
    'update notes set views = views + 1 where id in (2, 4)',
    'delete from notes where id = 3',
  );
  const second = await run();
  expect(second.outcomes).toMatchObject({ stored: 1, unchanged: 2, deleted: 1, failed: 0 });
  expect(second.embedded).toBe(1);
  expect(await bed.texts('1')).toEqual(['Ants march.']);
  expect(await bed.texts('3')).toEqual([]);
  expect((await run()).outcomes).toMatchObject({ stored: 0, unchanged: 0, stale: 0, deleted: 0 });
  await server.sql('truncate notes', "insert into notes values (9, 'New herd.', 0)");
  const last = await run();
  expect(last.outcomes).toMatchObject({ stored: 1, deleted: 3 });
  await expect.poll(readers).toBe(0);
});

test('a deletion needs nothing but the key: no look-up sees it', async () => {
  await server.sql(
    'create table looked (id int primary key, title text not null, body text not null)',
    "insert into looked values (5, 'Eels', 'They swim.')",
  );
  const bed = await openBed();
  const seen: string[] = [];
  const input = {
    source: { postgres: { url: server.url, table: 'looked', text: 'body', metadata: ['title'] } },
    chain: [
      {
        enrich: {
          name: 'by title',
          batch: async (documents: readonly { readonly metadata: object }[]) =>
            documents.map(({ metadata }) => {
              seen.push((metadata as { title: string }).title);
              return { metadata: { found: true } };
            }),
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  await bed.run({ input: input as never, watch: false });
  await server.sql('delete from looked where id = 5');
  const summary = await bed.run({ input: input as never, watch: false });
  expect(summary.outcomes).toMatchObject({ deleted: 1, failed: 0 });
  expect(seen).toEqual(['Eels']);
});

test('what is under way at a drain is finished after the connection is closed, and does not come again', async () => {
  await server.sql(
    'create table drained (id int primary key, body text)',
    "insert into drained values (1, 'Ants.'), (2, 'Bees.')",
  );
  const bed = await openBed();
  const stop = new AbortController();
  let calls = 0;
  const batch = async (documents: readonly object[]) => {
    calls += 1;
    if (calls === 2) {
      stop.abort();
      await expect.poll(readers).toBe(0);
    }
    return documents.map(() => ({}));
  };
  const input = {
    source: { postgres: { url: server.url, table: 'drained', text: 'body' } },
    chain: [
      { enrich: { name: 'slow', batch } },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  await bed.run({ input: input as never, watch: false });
  await server.sql("insert into drained values (3, 'Cows.')");
  const drained = await bed.run({ input: input as never, signal: stop.signal });
  expect(drained).toMatchObject({ end: 'drained', outcomes: { stored: 1 } });
  const last = await bed.run({ input: input as never, watch: false });
  expect(last.outcomes).toMatchObject({ stored: 0, unchanged: 0, stale: 0 });
});
