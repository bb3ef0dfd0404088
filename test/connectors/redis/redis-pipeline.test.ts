import { afterAll, beforeAll, expect, test } from 'vitest';
import { usePglite } from '../../promises/bed.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { addDocuments } from './bed.js';

const openBed = usePglite();
let redis: RedisService;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

test('entries of a stream become chunks; changes and deletions follow; nothing unchanged is embedded again', async () => {
  const bed = await openBed();
  const input = { source: { redis: { url: redis.url, stream: 'tickets', claimIdleMs: 500 } } };
  const run = () => bed.run({ input, watch: false });
  await addDocuments(redis, 'tickets', [
    ['a', 'Ants dig.'],
    ['b', 'Bees fly.'],
    ['c', 'Cows graze.'],
  ]);
  expect((await run()).outcomes).toMatchObject({ stored: 3, failed: 0 });
  await addDocuments(redis, 'tickets', [
    ['a', 'Ants march.'],
    ['b', 'Bees fly.'],
  ]);
  await redis.client.xadd('tickets', '*', 'id', 'c', 'op', 'delete');
  await redis.client.xadd('tickets', '*', 'id', 'd', 'op', 'drop');
  const second = await run();
  expect(second.outcomes).toMatchObject({ stored: 1, unchanged: 1, deleted: 1, failed: 1 });
  expect(second.embedded).toBe(1);
  expect(await bed.texts('a')).toEqual(['Ants march.']);
  expect(await bed.texts('b')).toEqual(['Bees fly.']);
  expect(await bed.texts('c')).toEqual([]);
  expect(await bed.failed()).toMatchObject([{ documentId: 'd', error: { code: 'item_malformed' } }]);
  expect(await redis.client.xpending('tickets', 'millrace-bed1')).toEqual([0, null, null, null]);
});

test('a run goes on by itself, as a stream has no end, and tells when it has caught up', async () => {
  const bed = await openBed();
  await addDocuments(redis, 'notes', [['a', 'Ants dig.']]);
  const stop = new AbortController();
  const summary = await bed.run({
    input: { source: { redis: { url: redis.url, stream: 'notes' } } },
    signal: stop.signal,
    onEvent: ({ type }) => type === 'caught-up' && stop.abort(),
  });
  expect(summary).toMatchObject({ end: 'drained', outcomes: { stored: 1 } });
  expect(await bed.texts('a')).toEqual(['Ants dig.']);
});
