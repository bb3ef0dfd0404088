import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../connectors/registry.js';
import { loadConfig } from '../src/config/load.js';
import type { RunEvent } from '../src/observability/events.js';
import type { PipelineSpec } from '../src/pipeline/spec.js';
import type { RetrieveOptions } from '../src/retrieval/retriever.js';
import { openPipelineRetriever } from '../src/runtime/open-retriever.js';
import { replayFailed } from '../src/runtime/replay.js';
import { runPipeline } from '../src/runtime/run.js';
import { startQdrant, type QdrantDouble } from './support/qdrant/start.js';
import { repositoryRoot } from './support/repository.js';
import { startPostgres, type PostgresService } from './support/services/postgres.js';
import { startRedis, type RedisService } from './support/services/redis.js';

let server: PostgresService;
let redis: RedisService;
let qdrant: QdrantDouble;
/** The examples, with the models that they ask for beside them. */
let folder: string;
let client: pg.Client;

beforeAll(async () => {
  folder = await folderWithModels();
  [server, redis, qdrant] = await Promise.all([
    startPostgres({ wal_level: 'logical' }),
    startRedis(),
    startQdrant(),
  ]);
  client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
}, 60_000);
afterAll(async () => {
  await client?.end();
  await Promise.all([server?.stop(), redis?.stop(), qdrant?.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function folderWithModels(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'millrace-compose-'));
  await cp(join(repositoryRoot, 'examples/compose'), made, { recursive: true });
  for (const name of ['model', 'model-2'])
    await cp(join(repositoryRoot, 'src/inference/bundled'), join(made, name), { recursive: true });
  const weights = join(made, 'model-2/model.safetensors');
  const bytes = await readFile(weights);
  // One component of a token; the weights of the tokens come last.
  bytes[bytes.length - 200_000]! ^= 1;
  await writeFile(weights, bytes);
  await rm(join(made, 'model-2/SHA256SUMS'));
  return made;
}

async function example(name: string): Promise<PipelineSpec> {
  const env = { REDIS_URL: redis.url, DATABASE_URL: server.url, QDRANT_URL: qdrant.url };
  const path = join(folder, `${name}.yaml`);
  const spec = await loadConfig(path, { env, connectors, cacheFolder: '/nonexistent' });
  // Its port may be taken on this machine.
  return { ...spec, http: undefined, workers: 1 };
}

/** Runs an example until it is ended, and asks its store meanwhile. */
async function live(spec: PipelineSpec, onEvent: (event: RunEvent) => void = () => undefined) {
  const stop = new AbortController();
  let caughtUp: () => void;
  const ready = new Promise<void>((resolve) => (caughtUp = resolve));
  const running = runPipeline(spec, {
    connectors,
    signal: stop.signal,
    onEvent: (event) => {
      onEvent(event);
      if (event.type === 'caught-up') caughtUp();
    },
  });
  await Promise.race([ready, running]);
  const retriever = await openPipelineRetriever(spec, { connectors });
  return {
    best: async (question: string, options: RetrieveOptions = {}) => {
      const [hit] = await retriever.retrieve(question, { k: 1, ...options });
      return hit && [hit.documentId, hit.metadata];
    },
    end: async () => {
      stop.abort();
      await retriever.close();
      return (await running).outcomes;
    },
  };
}

const patient = { timeout: 20_000 };

test('the example with every service follows a table, with facts from Postgres and Redis, into Qdrant, and takes a model that it is told of', async () => {
  await client.query(await readFile(join(folder, 'articles.sql'), 'utf8'));
  await redis.client.hset('team:finance', { lead: 'Cleo', phone: '4711' });
  await redis.client.hset('team:support', { lead: 'Dan', phone: '4712' });
  const spec = await example('articles');
  const articles = await live(spec);
  const refunds = ['1', { author: 'ben', team: 'finance', lead: 'Cleo', phone: '4711' }];
  await expect.poll(() => articles.best('who may approve a refund?'), patient).toEqual(refunds);
  // The template brought the team into the text.
  expect(await articles.best('finance', { mode: 'sparse' })).toEqual(refunds);
  expect(await articles.best('who may approve a refund?', { filter: { team: 'support' } })).toMatchObject([
    '2',
    { lead: 'Dan' },
  ]);
  expect((await redis.client.keys('millrace:*')).length).toBeGreaterThan(0);

  await client.query(`
    begin;
    update articles set title = 'Trips', body = 'Trains are booked by the travel desk.' where id = 1;
    insert into authors values ('eve', 'sales');
    insert into articles (title, body, author) values ('Discounts', 'A discount of ten percent needs nobody.', 'eve');
    commit`);
  await expect
    .poll(() => articles.best('who books a train?'), patient)
    .toMatchObject(['1', { team: 'finance' }]);
  // Nobody told Redis of the team yet.
  await expect.poll(() => redis.client.xlen('articles:failed'), patient).toBe(1);
  await client.query('delete from articles where id = 2');
  await expect.poll(() => articles.best('on call', { filter: { team: 'support' } }), patient).toBeUndefined();
  expect(await articles.end()).toMatchObject({ failed: 1, deleted: 1 });

  await redis.client.hset('team:sales', { lead: 'Fay' });
  const { runs } = await replayFailed(spec, {}, { connectors });
  expect(runs).toMatchObject([{ outcomes: { stored: 1, failed: 0 } }]);
  expect(await redis.client.xlen('articles:failed')).toBe(0);
  const retriever = await openPipelineRetriever(spec, { connectors });
  const [hit] = await retriever.retrieve('discount', { k: 1, mode: 'hybrid' });
  expect(hit).toMatchObject({ documentId: '3', metadata: { team: 'sales', lead: 'Fay' } });
  await retriever.close();

  const events: RunEvent[] = [];
  const again = await live(spec, (event) => events.push(event));
  // It listens from some moment on; what is told before is not heard.
  const refreshed = () => events.filter(({ type }) => type === 'refresh');
  await expect
    .poll(async () => {
      if (refreshed().length === 0) await redis.client.xadd('models', '*', 'model', './model-2');
      return refreshed().slice(0, 1);
    }, patient)
    .toMatchObject([{ model: './model', error: { code: 'artifact_mismatch' } }]);
  await expect
    .poll(() => events.flatMap((event) => (event.type === 'notice' ? event.code : [])), patient)
    .toContain('generation_switched');
  // By the new model, which the reader takes from the store.
  expect(await again.best('who books a train?')).toMatchObject(['1', { team: 'finance' }]);
  await client.query(
    "insert into articles (title, body, author) values ('Rooms', 'Rooms are booked at the desk.', 'ben')",
  );
  await expect
    .poll(() => again.best('where is a room booked?'), patient)
    .toMatchObject(['4', { team: 'finance' }]);
  expect(await again.end()).toMatchObject({ stored: 1, failed: 0 });
}, 60_000);

test('the example of tickets follows a stream into Postgres', async () => {
  const tickets = await live(await example('tickets'));
  await redis.client.xadd('tickets', '*', 'id', 't-1', 'text', 'The export hangs at 99 %', 'team', 'billing');
  await expect.poll(() => tickets.best('export never ends'), patient).toEqual(['t-1', { team: 'billing' }]);
  await redis.client.xadd('tickets', '*', 'id', 't-1', 'op', 'delete');
  await expect.poll(() => tickets.best('export never ends'), patient).toBeUndefined();
  expect(await tickets.end()).toMatchObject({ stored: 1, deleted: 1, failed: 0 });
}, 60_000);
