import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresLookupConfig } from '../../../connectors/postgres/config.js';
import { openPostgresLookup } from '../../../connectors/postgres/lookup.js';
import { freePort } from '../../support/services/free-port.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';
import { patience } from '../../suites/store-harness.js';

let server: PostgresService;
beforeAll(async () => {
  server = await startPostgres();
  await asAdmin(`
    create table authors (id int primary key, name text, team text);
    insert into authors values (1, 'Al', 'docs'), (2, 'Bo', null), (3, 'Cy', 'api');
    create table kinds (k uuid primary key, big int8, exact numeric, small numeric, part float8, yes bool, day date,
      at timestamptz, bytes bytea, list text[], numbers int[], doc jsonb, nan float8);
    insert into kinds values ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 9007199254740993, 12345678901234567890.12, 7, 1.5, true,
      '2024-02-29', '2024-02-29 23:30:00+00', '\\x00ff', '{a,"b c"}', '{1,2}', '{"deep": [1, null, 9007199254740993]}', 'NaN')`);
}, patience);
afterAll(() => server?.stop(), patience);

async function asAdmin(sql: string) {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

const signal = () => new AbortController().signal;
async function open(query: string, url = server.url) {
  return openPostgresLookup(postgresLookupConfig.parse({ url, query }), { ...testContext(), concurrency: 2 });
}

test('one query gives the rows of many keys, whatever their order; what is not there is no row', async () => {
  const lookup = await open('select id, name, team from authors where id = any($1) order by id desc');
  expect(await lookup.find(['3', '9', '1', '2'], signal())).toEqual([
    { name: 'Cy', team: 'api' },
    undefined,
    { name: 'Al', team: 'docs' },
    { name: 'Bo', team: null },
  ]);
  const many = Array.from({ length: 5_000 }, (_, at) => String(at));
  expect((await lookup.find(many, signal())).filter((row) => row !== undefined).length).toBe(3);
  await lookup.close();
});

test('values come exactly: what no number holds stays a text, and times mean the same everywhere', async () => {
  const lookup = await open('select * from kinds where k = any($1::uuid[])');
  const [row] = await lookup.find(['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], signal());
  expect(Date.parse((row as { at: string }).at)).toBe(Date.parse('2024-02-29T23:30:00Z'));
  expect([row]).toEqual([
    {
      big: '9007199254740993',
      exact: '12345678901234567890.12',
      small: 7,
      part: 1.5,
      yes: true,
      day: '2024-02-29',
      at: expect.stringMatching(/^2024-0[23]-\d\d \d\d:\d\d:00[+-]\d\d/) as string,
      bytes: '\\x00ff',
      list: ['a', 'b c'],
      numbers: [1, 2],
      doc: { deep: [1, null, '9007199254740993'] },
      nan: 'NaN',
    },
  ]);
  await lookup.close();
});

test.each([
  [
    'a first column that is no key',
    'select name, team from authors where id = any($1)',
    ['1'],
    'transform_failed',
  ],
  ['two rows for a key', 'select 1 as id, name from authors where 1 = any($1)', ['1'], 'transform_failed'],
  [
    'a key that the column cannot take',
    'select id, name from authors where id = any($1)',
    ['x'],
    'transform_failed',
  ],
  ['a table that is not there', 'select id from nowhere where id = any($1)', ['1'], 'config_invalid'],
  [
    'a column that is not there',
    'select id, nothing from authors where id = any($1)',
    ['1'],
    'config_invalid',
  ],
  ['a query that is none', 'selekt $1', ['1'], 'config_invalid'],
  [
    'a query that writes',
    'delete from authors where id = any($1) returning id, name',
    ['1'],
    'config_invalid',
  ],
])(
  '%s is told',
  async (_, query, keys, code) => {
    const lookup = await open(query);
    await expect(lookup.find(keys, signal())).rejects.toMatchObject({
      code,
      hint: expect.any(String) as string,
    });
    await lookup.close();
  },
  patience,
);

test('a query that is aborted ends at the server too', async () => {
  const lookup = await open('select id, pg_sleep(30)::text as slept from authors where id = any($1)');
  const stop = new AbortController();
  const asked = lookup.find(['1'], stop.signal);
  const sleeping = async () =>
    (
      await asAdmin(
        "select from pg_stat_activity where query like '%pg_sleep(30)%' and state = 'active' and pid <> pg_backend_pid()",
      )
    ).rowCount;
  await expect.poll(sleeping).toBe(1);
  stop.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  await expect.poll(sleeping).toBe(0);
  await lookup.close();
});

test('a server that is away is an outage, and one that is back answers', async () => {
  const lookup = await open('select id, name from authors where id = any($1)');
  await lookup.probe(signal());
  await server.restart();
  // Connections of before the restart are found dead one by one.
  const asked = () => lookup.find(['1'], signal()).catch(({ code }: { code: string }) => code);
  const answers = await Promise.all([asked(), asked(), asked()]);
  for (const answer of answers)
    expect(['remote_unavailable', 'Al']).toContain(
      typeof answer === 'string' ? answer : answer[0]!['name' as never],
    );
  await expect.poll(asked).toEqual([{ name: 'Al' }]);
  await lookup.close();
  const nobody = await open(
    'select id, name from authors where id = any($1)',
    `postgres://postgres@127.0.0.1:${await freePort()}/x`,
  );
  await expect(nobody.find(['1'], signal())).rejects.toMatchObject({ code: 'remote_unavailable' });
  await expect(nobody.probe(signal())).rejects.toMatchObject({ code: 'remote_unavailable' });
  await nobody.close();
});

test('a query without its list of keys is refused', () => {
  for (const query of ['select 1', 'select $10'])
    expect(postgresLookupConfig.safeParse({ url: 'x', query }).success).toBe(false);
});
