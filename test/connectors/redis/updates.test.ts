import { afterAll, beforeAll, expect, test } from 'vitest';
import { redisUpdatesConfig } from '../../../connectors/redis/config.js';
import { openRedisUpdates } from '../../../connectors/redis/updates.js';
import type { ModelUpdate } from '../../../src/contracts/model-updates.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { testContext } from '../../support/test-context.js';

let redis: RedisService;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Hears until stopped; it listens once this resolves. @param listeners how many there are then, with this one */
async function hear(stream: string, listeners = 1) {
  const context = testContext('models');
  const stop = new AbortController();
  const heard: ModelUpdate[] = [];
  const updates = await openRedisUpdates(
    redisUpdatesConfig.parse({ url: redis.url, stream, timeoutMs: 1_000 }),
    context,
  );
  const ended = (async () => {
    for await (const update of updates.updates(stop.signal)) heard.push(update);
  })();
  await expect.poll(blocked).toBe(listeners);
  return {
    heard,
    codes: () => context.notices.map(({ code }) => code),
    end: async () => {
      stop.abort(new Error('enough'));
      await ended;
    },
  };
}

async function blocked(): Promise<number> {
  return Number(/blocked_clients:(\d+)/.exec(await redis.client.info('clients'))![1]);
}

const weights = 'a'.repeat(64);

test('every listener hears every entry from its start on, in order', async () => {
  await redis.client.xadd('models', '*', 'model', './before');
  const first = await hear('models');
  await redis.client.xadd('models', '*', 'model', './one');
  await expect.poll(() => first.heard.length).toBe(1);
  const second = await hear('models', 2);
  await redis.client.xadd('models', '*', 'model', 'owner/two', 'revision', 'v2', 'weights', weights);
  await redis.client.xadd('other', '*', 'model', './elsewhere');
  await redis.client.xadd('models', '*', 'model', './three');
  const later = [{ model: 'owner/two', revision: 'v2', weights }, { model: './three' }];
  await expect.poll(() => [first.heard.length, second.heard.length]).toEqual([3, 2]);
  expect(first.heard).toEqual([{ model: './one' }, ...later]);
  expect(second.heard).toEqual(later);
  await Promise.all([first.end(), second.end()]);
  await expect.poll(blocked).toBe(0);
});

test('a stream may come later, and what is no update in it is told and passed over', async () => {
  const ear = await hear('later');
  await redis.client.xadd('later', '*', 'name', './wrong');
  await redis.client.xadd('later', '*', 'model', 'm', 'weights', 'short');
  await redis.client.xadd('later', '*', 'model', 'm', 'run', 'rm');
  await redis.client.xadd('later', '*', 'model', './right');
  await expect.poll(() => ear.heard).toEqual([{ model: './right' }]);
  expect(ear.codes()).toEqual(Array(3).fill('model_update_malformed'));
  await ear.end();
});

test('what comes while the connection is lost is heard, and a stream that began anew is heard from its beginning', async () => {
  await redis.client.xadd('lost', '*', 'model', './before');
  const ear = await hear('lost');
  await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await redis.client.xadd('lost', '*', 'model', './meanwhile');
  await expect.poll(() => ear.heard).toEqual([{ model: './meanwhile' }]);
  expect(ear.codes()).toEqual(['model_updates_lost']);
  await redis.client.del('lost');
  await redis.client.xadd('lost', '1-1', 'model', './anew');
  await expect.poll(() => ear.heard.at(-1)).toEqual({ model: './anew' });
  await ear.end();
});

test('a key that is no stream is refused for good', async () => {
  await redis.client.set('text', 'no stream');
  const updates = await openRedisUpdates(
    redisUpdatesConfig.parse({ url: redis.url, stream: 'text' }),
    testContext('models'),
  );
  const first = updates.updates(new AbortController().signal)[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: 'source_unavailable' });
});
