import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { patience } from '../../suites/store-harness.js';
import { kinds, layout, storing, textsOf } from '../../suites/store-samples.js';
import { testContext } from '../../support/test-context.js';

describe('writes on a server that keeps no statistics', { timeout: patience }, () => {
  let server: PostgresService;

  beforeAll(async () => {
    server = await startPostgres({ autovacuum: 'off' });
  }, patience);
  afterAll(() => server?.stop(), patience);

  const open = async (pipeline: string) => {
    const config = postgresConfig.parse({ url: server.url, index: 'off' });
    const store = await createPostgresStore(config, testContext(pipeline));
    await store.prepare(layout);
    return store;
  };
  const documents = (from: number, to: number, position: number) =>
    Array.from({ length: to - from }, (_, at) =>
      storing(`d-${from + at}`, position, [`text of ${position}`]),
    );

  /** Rows that were read of the tables so far; a session tells of its reads when it ends, which all others have. */
  const rowsRead = async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const others = async () =>
      (await client.query("select from pg_stat_activity where application_name = 'millrace'")).rowCount;
    await expect.poll(others).toBe(0);
    const text = `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
                  from pg_stat_user_tables where schemaname = 'millrace'`;
    const { rows } = await client.query<{ read: number }>(text).finally(() => client.end());
    return rows[0]!.read;
  };

  it('read only the rows of the documents that are written, however many others there are', async () => {
    const filler = await open('plans');
    for (let at = 0; at < 4_000; at += 500) await filler.sink.write(documents(at, at + 500, 1));
    await filler.close();
    const before = await rowsRead();
    const writer = await open('plans');
    expect(new Set(kinds(await writer.sink.write(documents(0, 200, 2))))).toEqual(new Set(['done']));
    await writer.close();
    expect((await rowsRead()) - before).toBeLessThan(200 * 10);
  });

  it('take new documents and known ones in one call, and of two first writers the newer wins', async () => {
    const [one, other] = await Promise.all([open('meeting'), open('meeting')]);
    for (let round = 0; round < 20; round += 1) {
      const at = round * 10;
      // The calls overlap in five documents, in opposite orders.
      const [, ofOther] = await Promise.all([
        one.sink.write(documents(at, at + 10, 1)),
        other.sink.write(documents(at + 5, at + 15, 2).reverse()),
      ]);
      expect(new Set(kinds(ofOther))).toEqual(new Set(['done']));
    }
    for (const id of ['d-5', 'd-14', 'd-204']) {
      const position = id === 'd-14' ? [1, 2] : [2];
      expect(position.map((of) => `text of ${of}`)).toContain((await textsOf(one, id)).join());
    }
    expect((await one.count()).documents).toBe(205);
    const mixed = [...documents(0, 2, 3), ...documents(900, 902, 1)];
    expect(kinds(await one.sink.write(mixed))).toEqual(['done', 'done', 'done', 'done']);
    expect(await textsOf(other, 'd-0')).toEqual(['text of 3']);
    expect(await textsOf(other, 'd-901')).toEqual(['text of 1']);
    await Promise.all([one.close(), other.close()]);
  });
});
