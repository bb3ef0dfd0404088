import { afterAll, beforeAll, expect, test } from 'vitest';
import { measureLag } from '../../../connectors/redis/lag.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';

let redis: RedisService;
const group = 'millrace-test';
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

test('lag counts what is unread and what is unconfirmed, and tells the age of the oldest by its id', async () => {
  const { client } = redis;
  for (const id of ['1000-0', '2000-0', '3000-0']) await client.xadd('s', id, 'id', id, 'text', 'x');
  await client.xgroup('CREATE', 's', group, '0');
  const lag = () => measureLag(client, 's', group, 10_000);
  expect(await lag()).toEqual({ entries: 3, seconds: 9 });
  await client.xreadgroup('GROUP', group, 'me', 'COUNT', 2, 'STREAMS', 's', '>');
  expect(await lag()).toEqual({ entries: 3, seconds: 9 });
  await client.xack('s', group, '1000-0');
  expect(await lag()).toEqual({ entries: 2, seconds: 8 });
  await client.xack('s', group, '2000-0');
  expect(await lag()).toEqual({ entries: 1, seconds: 7 });
  await client.xreadgroup('GROUP', group, 'me', 'COUNT', 2, 'STREAMS', 's', '>');
  await client.xack('s', group, '3000-0');
  expect(await lag()).toEqual({ entries: 0, seconds: 0 });
});

test('a count that Redis has lost is left out, and a group that is gone has no lag', async () => {
  const { client } = redis;
  for (const id of ['1000-0', '2000-0', '3000-0']) await client.xadd('t', id, 'id', id, 'text', 'x');
  await client.xgroup('CREATE', 't', group, '1000-0');
  await client.xdel('t', '2000-0');
  expect(await measureLag(client, 't', group, 10_000)).toEqual({ seconds: 7 });
  expect(await measureLag(client, 't', 'another', 10_000)).toEqual({});
});
