import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import { parsePipeline } from '../../src/config/parse.js';
import type { PipelineInput } from '../../src/config/schema.js';
import type { RunSummary } from '../../src/observability/events.js';
import { openPipelineRetriever } from '../../src/runtime/open-retriever.js';
import { runPipeline } from '../../src/runtime/run.js';
import { startPostgres, type PostgresService } from '../support/services/postgres.js';
import { startRedis, type RedisService } from '../support/services/redis.js';
import { minilmFolder } from '../support/weights/minilm.js';

let server: PostgresService;
let redis: RedisService;
let client: pg.Client;
beforeAll(async () => {
  [server, redis] = await Promise.all([startPostgres({ wal_level: 'logical' }), startRedis()]);
  client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`
    create table articles (id int primary key, title text, body text, author int);
    create table authors (id int primary key, name text, team text);
    insert into authors values (1, 'Al Adams', 'veterinary'), (2, 'Bo Brown', 'gardens');
    insert into articles values (1, 'Parrots', 'Parrots can learn to speak.', 1)`);
}, 60_000);
afterAll(async () => {
  await client?.end();
  await Promise.all([server?.stop(), redis?.stop()]);
});

/** A pipeline that runs until it is ended, and the questions that its store answers meanwhile. */
async function live(name: string, source: PipelineInput['source']) {
  const query = 'select id, name, team from authors where id = any($1)';
  const spec = parsePipeline(
    {
      name,
      source,
      chain: [
        {
          enrich: {
            postgres: { url: server.url, query, key: 'author' },
            template: 'By {name} of {team}.\n\n{text}',
            cache: { ttl: '1h', redis: { url: redis.url } },
          },
        },
        { chunk: { markdown: { maxTokens: 64, overlap: 8 } } },
        { embed: { onnx: { model: minilmFolder() } } },
      ],
      sink: { postgres: { url: server.url } },
      failed: { redis: { url: redis.url, stream: 'failed' } },
      workers: 1,
    } as PipelineInput,
    { connectors, baseFolder: '/', cacheFolder: '/nowhere', origin: 'the test' },
  );
  const stop = new AbortController();
  let caughtUp: () => void;
  const ready = new Promise<void>((resolve) => (caughtUp = resolve));
  const running = runPipeline(spec, {
    connectors,
    signal: stop.signal,
    onEvent: ({ type }) => type === 'caught-up' && caughtUp(),
  });
  await Promise.race([ready, running]);
  const retriever = await openPipelineRetriever(spec, { connectors });
  return {
    /** The nearest document, with its team. */
    best: async (question: string) => {
      const [hit] = await retriever.retrieve(question, { k: 1 });
      return hit && [hit.documentId, hit.metadata['team'], hit.text.split('\n')[0]];
    },
    end: async (): Promise<RunSummary> => {
      stop.abort();
      await retriever.close();
      return running;
    },
  };
}

test('rows of Postgres, enriched by a look-up and embedded by MiniLM, are found as they change', async () => {
  const articles = await live('articles', {
    postgres: { url: server.url, table: 'articles', text: ['title', 'body'] },
  } as PipelineInput['source']);
  const patient = { timeout: 20_000 };
  await expect
    .poll(() => articles.best('talking birds'), patient)
    .toEqual(['1', 'veterinary', 'By Al Adams of veterinary.']);
  await client.query(`
    begin;
    insert into articles values (2, 'Roses', 'Roses need pruning in spring.', 2);
    update articles set body = 'Goldfish live for ten years.', title = 'Goldfish' where id = 1;
    commit`);
  await expect
    .poll(() => articles.best('when are flowers cut back?'), patient)
    .toEqual(['2', 'gardens', 'By Bo Brown of gardens.']);
  await expect
    .poll(() => articles.best('how old do fish get?'), patient)
    .toEqual(['1', 'veterinary', 'By Al Adams of veterinary.']);
  await client.query('delete from articles where id = 2');
  await expect
    .poll(() => articles.best('when are flowers cut back?'), patient)
    .toEqual(['1', 'veterinary', 'By Al Adams of veterinary.']);
  expect((await articles.end()).outcomes).toMatchObject({ failed: 0, deleted: 1 });
}, 60_000);

test('entries of a Redis stream take the same way', async () => {
  const tickets = await live('tickets', { redis: { url: redis.url, stream: 'tickets' } });
  const patient = { timeout: 20_000 };
  await redis.client.xadd('tickets', '*', 'id', 'a', 'text', 'The parrot says my name.', 'author', '1');
  await redis.client.xadd('tickets', '*', 'id', 'b', 'text', 'Weeds in the flower bed.', 'author', '2');
  await expect
    .poll(() => tickets.best('talking birds'), patient)
    .toEqual(['a', 'veterinary', 'By Al Adams of veterinary.']);
  await expect
    .poll(() => tickets.best('unwanted plants'), patient)
    .toEqual(['b', 'gardens', 'By Bo Brown of gardens.']);
  await redis.client.xadd('tickets', '*', 'id', 'b', 'op', 'delete');
  await expect
    .poll(() => tickets.best('unwanted plants'), patient)
    .toEqual(['a', 'veterinary', 'By Al Adams of veterinary.']);
  expect((await tickets.end()).outcomes).toMatchObject({ failed: 0, deleted: 1 });
}, 60_000);
