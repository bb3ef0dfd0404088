import { afterAll, beforeAll, expect, test } from 'vitest';
import { redisFailedConfig } from '../../../connectors/redis/config.js';
import { openRedisFailed } from '../../../connectors/redis/failed.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { testContext } from '../../support/test-context.js';
import { failedRecord, failedStoreSuite, recordsOf } from '../../suites/failed-store-suite.js';
import { loseNothingToKills } from '../../suites/killed-writers.js';

let redis: RedisService;
let streams = 0;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

async function openAt(stream: string, pipeline = 'handbook') {
  const context = testContext(pipeline);
  const store = await openRedisFailed(redisFailedConfig.parse({ url: redis.url, stream }), context);
  return { store, notices: context.notices };
}

failedStoreSuite('a Redis stream', {
  async place() {
    streams += 1;
    const stream = `failed${streams}`;
    return async (pipeline) => (await openAt(stream, pipeline)).store;
  },
});

test('the stream holds one entry a failing document, for others to read', async () => {
  const { store } = await openAt('one');
  await store.put([failedRecord('a'), failedRecord('b'), failedRecord('a'), failedRecord('a', 2)]);
  const entries = await redis.client.xrange('one', '-', '+');
  expect(entries.map(([, fields]) => fields.slice(0, 6))).toEqual([
    ['pipeline', 'handbook', 'id', 'b', 'version', failedRecord('b').version],
    ['pipeline', 'handbook', 'id', 'a', 'version', failedRecord('a', 2).version],
  ]);
  await store.discard([failedRecord('a', 2), failedRecord('b')]);
  expect(await redis.client.xlen('one')).toBe(0);
  expect(await redis.client.exists('one:handbook')).toBe(0);
  await store.close();
});

test('a record that somebody took out of the stream is gone, and its document may fail again', async () => {
  const { store } = await openAt('trimmed');
  await store.put([failedRecord('a'), failedRecord('b')]);
  await redis.client.xtrim('trimmed', 'MAXLEN', 1);
  expect(await recordsOf(store)).toEqual([failedRecord('b')]);
  await store.put([failedRecord('a')]);
  expect((await recordsOf(store)).length).toBe(2);
  await store.close();
});

test('a Redis that is away or full refuses, and one that is back takes what is put again', async () => {
  const { store } = await openAt('away');
  await store.put([failedRecord('a')]);
  await redis.client.config('SET', 'maxmemory', '1');
  await expect(store.put([failedRecord('b')])).rejects.toMatchObject({ code: 'failed_sink_unavailable' });
  await redis.client.config('SET', 'maxmemory', '0');
  await redis.restart();
  await expect
    .poll(() =>
      store.put([failedRecord('b')]).then(
        () => 'done',
        () => 'refused',
      ),
    )
    .toBe('done');
  expect((await recordsOf(store)).map(({ documentId }) => documentId)).toEqual(['a', 'b']);
  await store.close();
  const nobody = await openRedisFailed(
    redisFailedConfig.parse({ url: 'redis://127.0.0.1:1', stream: 's' }),
    testContext(),
  );
  await expect(nobody.put([failedRecord('a')])).rejects.toMatchObject({ code: 'failed_sink_unavailable' });
  await expect(recordsOf(nobody)).rejects.toMatchObject({ code: 'failed_sink_unavailable' });
  await nobody.close();
});

test('a Redis that forgets is told of', async () => {
  const forgetful = await startRedis({ appendonly: 'no' });
  const context = testContext();
  const store = await openRedisFailed(redisFailedConfig.parse({ url: forgetful.url, stream: 's' }), context);
  await store.put([failedRecord('a')]);
  await store.put([failedRecord('b')]);
  expect(context.notices.map(({ code }) => code)).toEqual(['failed_sink_volatile']);
  await store.close();
  await forgetful.stop();
});

test('processes that are killed while they put lose nothing that was put', async () => {
  const { store } = await openAt('killed');
  await loseNothingToKills('redis', { url: redis.url, stream: 'killed' }, store);
  expect(await redis.client.xlen('killed')).toBe(await redis.client.hlen('killed:handbook'));
  await store.close();
}, 60_000);
