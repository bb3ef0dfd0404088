import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';
import { patience } from '../../suites/store-harness.js';
import { kinds, layout, layoutOf, space, storing, textsOf, vectorOf } from '../../suites/store-samples.js';

let server: PostgresService;

beforeAll(async () => {
  server = await startPostgres();
}, patience);
afterAll(() => server?.stop(), patience);

/** The tables as layout 1 made them: one vector a chunk, never absent, and no names of spaces. */
async function backToLayout1(): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`
    alter table millrace.layout drop column spaces, drop column active, drop column followers,
      drop column generations, drop column paused_until, drop column state, drop column since,
      drop column keeps, drop column shown, drop column columns, drop column filled;
    alter table millrace.ledger drop column words;
    alter table millrace.chunks drop column prefix;
    drop table millrace.behind;
    drop table millrace.texts;
    drop sequence millrace.marks;
    update millrace.layout set version = 1;
    alter table millrace.chunks alter column embedding set not null;
  `);
  await client.end();
}

const open = (pipeline: string) =>
  createPostgresStore(postgresConfig.parse({ url: server.url, connections: 2 }), testContext(pipeline));

test(
  'a store of layout 1 is read as it is, and brought up to date when it is prepared',
  { timeout: patience },
  async () => {
    const [first, second] = await Promise.all([open('first'), open('second')]);
    await first.prepare(layout);
    await second.prepare(layoutOf(4));
    await first.sink.write([storing('a', 1, ['one', 'two'])]);
    await second.sink.write([storing('b', 1, ['three'])]);
    await backToLayout1();
    await Promise.all([first.close(), second.close()]);

    const reader = await open('first');
    expect(await textsOf(reader, 'a')).toEqual(['one', 'two']);
    await reader.close();

    // Several daemons start at once.
    const daemons = await Promise.all([1, 2, 3].map(() => open('first')));
    await Promise.all(daemons.map((daemon) => daemon.prepare(layout)));
    expect(kinds(await daemons[0]!.sink.write([storing('a', 2, ['two', 'new'], { kept: false })]))).toEqual([
      'done',
    ]);
    expect(await textsOf(daemons[1]!, 'a')).toEqual(['two', 'new']);
    await expect(daemons[2]!.prepare(layoutOf(3))).rejects.toMatchObject({ code: 'store_layout' });

    // A pipeline that nobody prepared since then, and one with two spaces beside it.
    const other = await open('second');
    expect(await textsOf(other, 'b')).toEqual(['three']);
    const two = await open('two');
    await two.prepare({
      spaces: [
        { name: 'en', width: 4 },
        { name: 'de', width: 2 },
      ],
    });
    const chunks = storing('c', 1, ['four']);
    const written = { ...chunks, spaces: [{ space: 'de', vectors: [Float32Array.of(1, 0)] }] };
    expect(kinds(await two.sink.write([written]))).toEqual(['done']);
    expect(await two.search.search({ space: 'en', vector: vectorOf('q'), k: 5 })).toEqual([]);
    expect(await two.search.search({ space: 'de', vector: Float32Array.of(1, 0), k: 5 })).toHaveLength(1);
    expect(await other.search.search({ space, vector: vectorOf('q'), k: 5 })).toHaveLength(1);
    await Promise.all([...daemons, other, two].map((store) => store.close()));
  },
);
