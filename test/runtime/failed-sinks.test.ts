import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { PipelineInput } from '../../src/config/schema.js';
import type { FailedRecord } from '../../src/contracts/failed-store.js';
import { Releasers } from '../../src/flow/releasers.js';
import { keepRetention } from '../../src/runtime/keep-retention.js';
import { openFailedStore } from '../../src/runtime/open-parts.js';
import type { RunEvent } from '../../src/observability/events.js';
import type { PipelineSpec } from '../../src/pipeline/spec.js';
import { usePglite } from '../promises/bed.js';
import { startPostgres, type PostgresService } from '../support/services/postgres.js';
import { startRedis, type RedisService } from '../support/services/redis.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { failedRecord } from '../suites/failed-store-suite.js';

const openBed = usePglite();
let redis: RedisService;
let server: PostgresService;
beforeAll(async () => {
  [redis, server] = await Promise.all([startRedis(), startPostgres()]);
}, 60_000);
afterAll(() => Promise.all([redis?.stop(), server?.stop()]));

async function recordsIn(spec: PipelineSpec): Promise<FailedRecord[]> {
  const releasers = new Releasers();
  const clock = new VirtualClock();
  const store = await openFailedStore(spec, { connectors, clock, report: () => undefined, releasers });
  const records: FailedRecord[] = [];
  for await (const record of store.list()) records.push(record);
  await releasers.release();
  return records;
}

test.each(['redis', 'postgres'])('failures are kept in %s, and replayed from there', async (kind) => {
  const failed: PipelineInput['failed'] =
    kind === 'redis' ? { redis: { url: redis.url, stream: 'failed' } } : { postgres: { url: server.url } };
  const bed = await openBed();
  let mended = false;
  const input: Partial<PipelineInput> = {
    failed,
    chain: [
      {
        enrich: {
          name: 'strict',
          batch: async (documents) =>
            documents.map(({ text }) => (mended || text !== 'Bees.' ? {} : new Error('No bees.'))),
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  await bed.write({ 'a.md': 'Ants.', 'b.md': 'Bees.', 'c.md': 'Bees.' });
  expect((await bed.run({ input })).outcomes).toMatchObject({ stored: 1, failed: 2 });
  expect(await recordsIn(bed.spec(input))).toMatchObject([
    { documentId: expect.stringMatching(/[bc]\.md/) as string, element: { text: 'Bees.' }, attempts: 1 },
    { stage: 'enrich', error: { code: 'transform_failed' } },
  ]);
  // A deleted document takes its record along.
  await bed.remove('c.md');
  await bed.run({ input });
  expect(await recordsIn(bed.spec(input))).toMatchObject([{ documentId: 'b.md', attempts: 1 }]);
  mended = true;
  expect((await bed.replay({ input })).runs).toMatchObject([{ outcomes: { stored: 1 } }]);
  expect(await recordsIn(bed.spec(input))).toEqual([]);
  expect(await bed.texts('b.md')).toEqual(['Bees.']);
});

test('what is kept longer than the retention goes while a run goes on; a refusal is told once', async () => {
  const clock = new VirtualClock(Date.parse('2026-03-01T00:00:00.000Z'));
  const notices: RunEvent[] = [];
  const asked: string[] = [];
  let refuses = 0;
  const failed = {
    expire: async (before: string) => {
      asked.push(before);
      if (refuses-- > 0) throw new Error('away');
      return 0;
    },
  } as unknown as Parameters<typeof keepRetention>[0]['failed'];
  const end = keepRetention({
    failed,
    retentionMs: 3_600_000,
    clock,
    report: (event) => notices.push(event),
  });
  await clock.asleep();
  refuses = 2;
  for (let round = 0; round < 3; round++) {
    clock.advance(360_000);
    await clock.asleep();
  }
  expect(asked).toEqual([
    '2026-02-28T23:00:00.000Z',
    '2026-02-28T23:06:00.000Z',
    '2026-02-28T23:12:00.000Z',
    '2026-02-28T23:18:00.000Z',
  ]);
  expect(notices).toMatchObject([{ code: 'retention_refused' }]);
  await end();
  expect(clock.sleeping).toBe(0);
});

test('a run forgets what is over its retention', async () => {
  const bed = await openBed();
  const failed = { redis: { url: redis.url, stream: 'old' }, retention: '1d' } as const;
  const spec = bed.spec({ failed });
  const releasers = new Releasers();
  const clock = new VirtualClock();
  const store = await openFailedStore(spec, { connectors, clock, report: () => undefined, releasers });
  const lastAt = new Date(Date.now() - 3_600_000).toISOString();
  await store.put([failedRecord('old'), failedRecord('recent', 1, { lastAt })]);
  await releasers.release();
  await bed.write({ 'a.md': 'Ants.' });
  await bed.run({ input: { failed }, source: { name: 'none', async *deliveries() {} } });
  expect(await recordsIn(spec)).toMatchObject([{ documentId: 'recent' }]);
});
