import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../../connectors/registry.js';
import type { PipelineInput } from '../../../src/config/schema.js';
import { listGenerations, withReindex } from '../../../src/runtime/generations/run-generations.js';
import { smallChunks, usePglite } from '../../promises/bed.js';
import { patience } from '../../suites/store-harness.js';
import { startCdcServer, type CdcServer } from './cdc/bed.js';

const openBed = usePglite();
let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

const text = (of: string) =>
  [1, 2, 3]
    .map((n) => `Sentence ${n} about ${of} says in a good many words that there is something to tell of it.`)
    .join('\n\n');

test('another chunk size is read from a table while a daemon follows it, on a server', async () => {
  await server.sql(
    'create table notes (id int primary key, body text)',
    ...['ants', 'bees', 'cows', 'dogs'].map((of, at) => `insert into notes values (${at}, '${text(of)}')`),
  );
  const bed = await openBed();
  const input: Partial<PipelineInput> = {
    source: { postgres: { url: server.url, table: 'notes', text: 'body', metadata: [] } },
    sink: { postgres: { url: server.url, schema: 'kept', view: 'read_now' } },
  };
  const finer = { ...input, ...smallChunks };
  const stop = new AbortController();
  let settled = 0;
  const daemon = bed.run({
    input,
    signal: stop.signal,
    onEvent: ({ type }) => type === 'settled' && (settled += 1),
  });
  daemon.catch(() => undefined);
  await expect.poll(() => settled, { timeout: 40_000 }).toBe(4);

  await withReindex(bed.spec(finer), { connectors, fromSource: true }, async (reindex) => {
    expect(reindex.forecast.bytes).toBeGreaterThan(reindex.forecast.vectorBytes);
    await reindex.fill();
    // The daemon brings what changes with its text, though its own configuration keeps none.
    await server.sql(
      `update notes set body = '${text('termites')}' where id = 0`,
      'delete from notes where id = 2',
      `insert into notes values (9, '${text('eels')}')`,
    );
    await expect.poll(() => settled, { timeout: 40_000 }).toBe(7);
    await reindex.switch(0);
  });
  // Its generation is not the active one any more.
  await server.sql(`insert into notes values (10, '${text('frogs')}')`);
  await expect(daemon).rejects.toMatchObject({ code: 'generation_moved' });
  stop.abort();

  const summary = await bed.run({ input: finer, watch: false });
  expect(summary.outcomes).toMatchObject({ stored: 1, failed: 0 });
  const { rows } = await server.sql(
    'select document_id as id, count(*)::int as chunks from kept.read_now group by 1 order by 1',
  );
  expect(rows).toEqual(['0', '1', '10', '3', '9'].map((id) => ({ id, chunks: 3 })));
  expect(await listGenerations(bed.spec(finer), { connectors })).toMatchObject([
    { number: 1, state: 'retired' },
    { number: 2, state: 'active', behind: 0, count: { documents: 5, chunks: 15 } },
  ]);
}, 120_000);
