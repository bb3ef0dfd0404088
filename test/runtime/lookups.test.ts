import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { PipelineInput } from '../../src/config/schema.js';
import type { RunEvent } from '../../src/observability/events.js';
import { checkPipeline } from '../../src/runtime/check.js';
import { logOf, document, usePglite, type Bed } from '../promises/bed.js';
import { startLookupEndpoint } from '../support/lookup-endpoint.js';
import { startPostgres, type PostgresService } from '../support/services/postgres.js';
import { startRedis, type RedisService } from '../support/services/redis.js';

const openBed = usePglite();
let server: PostgresService;
let redis: RedisService;
let client: pg.Client;
beforeAll(async () => {
  [server, redis] = await Promise.all([startPostgres(), startRedis()]);
  client = new pg.Client({ connectionString: server.url });
  // It goes with its server.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('create table authors (id text primary key, name text, team text)');
  await client.query("insert into authors values ('al', 'Al Adams', 'docs'), ('bo', 'Bo Brown', 'api')");
}, 60_000);
afterAll(async () => {
  await client?.end();
  await Promise.all([server?.stop(), redis?.stop()]);
});

const query = 'select id, name, team from authors where id = any($1)';
type Enrich = Extract<NonNullable<PipelineInput['chain']>[number], { enrich: unknown }>['enrich'];
const chainOf = (...enrich: Enrich[]): PipelineInput['chain'] => [
  ...enrich.map((step) => ({ enrich: step })),
  { chunk: { markdown: {} } },
  { embed: { static: { model: 'bundled' } } },
];
const byAuthor = (more: Partial<Enrich> = {}): Enrich => ({
  postgres: { url: server.url, query, key: 'author' },
  ...more,
});
const line = (id: string, author: string) => `${JSON.stringify({ id, text: `Text of ${id}.`, author })}\n`;

async function metadataOf(bed: Bed): Promise<Record<string, unknown>> {
  const { chunks } = await bed.content();
  return Object.fromEntries(
    chunks.map(({ documentId, metadata }) => [documentId.split('/').at(-1)!, metadata]),
  );
}

test('rows from Postgres, Redis and HTTP come into documents, one step after the other', async () => {
  const bed = await openBed();
  await redis.client.hset('team:docs', { floor: '3' });
  const endpoint = await startLookupEndpoint(({ path }) => ({
    kind: 'json',
    value: { building: `B${new URL(path, 'http://h').pathname.split('/').at(-1)}` },
  }));
  await bed.write({ 'd.jsonl': ['al', 'bo', 'cy'].map((author, at) => line(`d${at}`, author)).join('') });
  const chain = chainOf(
    byAuthor({ template: 'By {name}.\n\n{text}' }),
    { redis: { url: redis.url, pattern: 'team:{key}', key: 'team' } },
    {
      http: { url: `${endpoint.origin}/floors/{key}`, key: 'floor', allowPrivate: true },
      join: 'nested',
      into: 'place',
    },
  );
  const events: RunEvent[] = [];
  const summary = await bed.run({ input: { chain }, onEvent: (event) => void events.push(event) });
  expect(summary.outcomes).toMatchObject({ stored: 3, failed: 0 });
  expect(await metadataOf(bed)).toMatchObject({
    d0: { author: 'al', name: 'Al Adams', team: 'docs', floor: '3', place: { building: 'B3' } },
    d1: { author: 'bo', name: 'Bo Brown', team: 'api' },
    d2: { author: 'cy' },
  });
  expect(await bed.texts('d.jsonl/d0')).toEqual(['By Al Adams.\n\nText of d0.']);
  expect(await bed.texts('d.jsonl/d2')).toEqual(['Text of d2.']);
  // The keys of all documents went together.
  expect(events.filter((event) => event.type === 'batch' && event.lane === 'postgres:author')).toMatchObject([
    { items: 3 },
  ]);
  const findings = [];
  for await (const finding of checkPipeline(bed.spec({ chain }), connectors)) findings.push(finding);
  expect(findings.filter(({ part }) => part === 'lookup').map(({ detail }) => detail)).toEqual([
    '"postgres:author" answers',
    '"redis:team" answers',
    '"http:floor" answers',
  ]);
  expect(findings.find(({ error }) => error !== undefined)).toBeUndefined();
  expect(findings.at(-1)).toMatchObject({ part: 'failed', detail: 'can be read; there is none' });
  await endpoint.close();
});

test('a document without its row fails where that is asked for, and is replayed once the row is there', async () => {
  const bed = await openBed();
  await bed.write({ 'd.jsonl': line('a', 'al') + line('b', 'dora') });
  const input = { chain: chainOf(byAuthor({ missing: 'fail' })) };
  expect((await bed.run({ input })).outcomes).toMatchObject({ stored: 1, failed: 1 });
  expect(await bed.failed()).toMatchObject([
    { documentId: 'd.jsonl/b', stage: 'enrich', error: { code: 'transform_failed' } },
  ]);
  await client.query("insert into authors values ('dora', 'Dora', 'docs')");
  expect((await bed.replay({ input })).runs).toMatchObject([{ outcomes: { stored: 1 } }]);
  expect(await metadataOf(bed)).toMatchObject({ b: { name: 'Dora' } });
});

test('what affects output is remembered by the store, a timeout or an address is not', async () => {
  const bed = await openBed();
  await bed.write({ 'd.jsonl': line('a', 'al') });
  const run = (step: Partial<Enrich>) => bed.run({ input: { chain: chainOf(byAuthor(step)) } });
  expect((await run({})).outcomes.stored).toBe(1);
  const elsewhere = { url: server.url.replace('127.0.0.1', 'localhost'), query, key: 'author' };
  const same: Partial<Enrich> = {
    timeout: '1s',
    rps: 50,
    cache: { ttl: '1h' },
    batchSize: 7,
    name: 'x',
    postgres: elsewhere,
  };
  expect((await run(same)).outcomes.unchanged).toBe(1);
  for (const other of [
    { join: 'left' },
    { template: '{text}!' },
    { missing: 'fail' },
    { fields: ['name'] },
  ] as const)
    await expect(run(other as Partial<Enrich>)).rejects.toMatchObject({ code: 'artifact_mismatch' });
  const changed = { url: server.url, query: query.replace('name,', ''), key: 'author' };
  await expect(run({ postgres: changed })).rejects.toMatchObject({
    code: 'artifact_mismatch',
    message: expect.stringContaining('query') as string,
  });
});

test('a query that is wrong stops the run, and nothing is a failed element', async () => {
  const bed = await openBed();
  await bed.write({ 'd.jsonl': line('a', 'al') });
  const wrong = { url: server.url, query: 'select nothing from authors where id = any($1)', key: 'author' };
  await expect(bed.run({ input: { chain: chainOf({ postgres: wrong }) } })).rejects.toMatchObject({
    code: 'config_invalid',
  });
  expect(await bed.failed()).toEqual([]);
});

test('an outage of the service is waited out, and one of the cache is not even waited for', async () => {
  const bed = await openBed();
  const forgetful = await startRedis();
  const own = await startPostgres();
  const setUp = new pg.Client({ connectionString: own.url });
  setUp.on('error', () => undefined);
  await setUp.connect();
  await setUp.query("create table authors as select 'al' as id, 'Al' as name, 'docs' as team");
  const step: Enrich = {
    postgres: { url: own.url, query, key: 'author' },
    cache: { ttl: '1h', redis: { url: forgetful.url, timeoutMs: 500 } },
  };
  const codes: string[] = [];
  let away: Promise<void> | undefined;
  const input = { chain: chainOf(step) };
  const first = document('a', 1, 'First.');
  const second = document('b', 2, 'Second.');
  const withAuthor = (one: typeof first) => ({ ...one, metadata: { author: 'al' } }) as typeof first;
  const log = logOf([withAuthor(first)], [withAuthor(second)], [withAuthor({ ...first, id: 'c' })]);
  const source = {
    ...log,
    async *deliveries(context: Parameters<typeof log.deliveries>[0]) {
      let at = 0;
      for await (const delivery of log.deliveries(context)) {
        if (at === 1) {
          await expect.poll(() => log.settled.size).toBe(1);
          // The second row comes from the cache, while the database is away.
          await own.restart();
        }
        if (at === 2) {
          await expect.poll(() => log.settled.size).toBe(2);
          await forgetful.stop();
          away = own.restart();
        }
        at += 1;
        yield delivery;
      }
    },
  };
  const summary = await bed.run({
    input,
    source,
    onEvent: (event) => void (event.type === 'notice' && codes.push(event.code)),
  });
  await away;
  expect(summary.outcomes).toMatchObject({ stored: 3, failed: 0 });
  expect(await metadataOf(bed)).toMatchObject({ a: { name: 'Al' }, b: { name: 'Al' }, c: { name: 'Al' } });
  expect(codes).toContain('lookup_cache_lost');
  await setUp.end().catch(() => undefined);
  await own.stop();
}, 60_000);

test('unchanged documents are enriched anew every so often while a run goes on', async () => {
  const bed = await openBed();
  await client.query("insert into authors values ('eve', 'Eve', 'docs')");
  await bed.write({ 'd.jsonl': line('a', 'eve') });
  const stop = new AbortController();
  const source = { files: { root: 'docs', pollMs: 50 } };
  const running = bed.run({
    input: { source, chain: chainOf(byAuthor({ refreshEvery: '300ms' })) },
    watch: true,
    signal: stop.signal,
  });
  const team = async () => (await metadataOf(bed))['a'];
  await expect.poll(team, { timeout: 20_000 }).toMatchObject({ team: 'docs' });
  await client.query("update authors set team = 'sales' where id = 'eve'");
  await expect.poll(team, { timeout: 20_000 }).toMatchObject({ team: 'sales' });
  stop.abort();
  expect((await running).outcomes.failed).toBe(0);
}, 60_000);

test('a source that cannot be read again refuses to be refreshed, unless the store keeps what it gave', async () => {
  const bed = await openBed();
  const input: Partial<PipelineInput> = {
    source: { redis: { url: redis.url, stream: 'tickets' } },
    chain: chainOf(byAuthor({ refreshEvery: '1h' })),
  };
  await expect(bed.run({ input, watch: false })).rejects.toMatchObject({
    code: 'config_invalid',
    hint: expect.stringContaining('keepText') as string,
  });
});
