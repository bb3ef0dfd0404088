import { afterAll, beforeAll, expect, test } from 'vitest';
import { sourceSuite } from '../../suites/source-suite.js';
import { startTlsProxy } from '../../support/faults/tls-proxy.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { addDocuments, follow, openStream, readAll } from './bed.js';

let redis: RedisService;
let streams = 0;
const newStream = () => `stream-${(streams += 1)}`;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

sourceSuite('redis', {
  async fill(documents) {
    const stream = newStream();
    await addDocuments(redis, stream, documents);
    const { source } = await openStream(redis, stream);
    return {
      source,
      held: async () => {
        // Redis hears of the end of a connection a little later.
        for (const deadline = Date.now() + 20_000; ;) {
          const clients = (await redis.client.client('LIST')) as string;
          const held = clients.split('\n').filter((line) => line.includes('name=millrace')).length;
          if (held === 0 || Date.now() > deadline) return held;
        }
      },
    };
  },
});

test('what was confirmed does not come again, what was not does, once its consumer is idle for too long', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [
    ['a', 'ants'],
    ['b', 'bees'],
  ]);
  const ledger = new LedgerDouble();
  const input = { count: 1, claimIdleMs: 300 };
  const first = follow(await openStream(redis, stream, input), ledger);
  await ledger.apply(await first.next());
  await first.next();
  await first.end();
  const elements = await readAll(await openStream(redis, stream, input), ledger);
  expect(elements.map(({ id }) => id)).toEqual(['b']);
  expect(ledger.texts()).toEqual({ a: 'ants', b: 'bees' });
});

test('entries in progress are not taken over, however long they take, and their deliveries are not counted up', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [['slow', 'snails']]);
  const ledger = new LedgerDouble();
  const input = { claimIdleMs: 1_000 };
  const slow = follow(await openStream(redis, stream, input), ledger);
  const delivery = await slow.next();
  const peer = follow(await openStream(redis, stream, input), ledger);
  const seen = peer.next().then(
    () => 'taken over',
    () => 'ended',
  );
  expect(await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, 3_000, 'left alone'))])).toBe(
    'left alone',
  );
  const [[, , , deliveries]] = (await redis.client.xpending(stream, 'millrace-test', '-', '+', 10)) as [
    [string, string, number, number],
  ];
  expect(deliveries).toBe(1);
  await ledger.apply(delivery);
  expect(await redis.client.xpending(stream, 'millrace-test')).toEqual([0, null, null, null]);
  await peer.end();
  await seen;
  await slow.end();
});

test('while a round is worked on the next one is read, and held for as long as it waits', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [
    ['a', 'ants'],
    ['b', 'bees'],
    ['c', 'cows'],
  ]);
  const ledger = new LedgerDouble();
  const input = { count: 1, claimIdleMs: 1_000 };
  const slow = follow(await openStream(redis, stream, input), ledger);
  const first = await slow.next();
  const pending = async () => {
    const all = (await redis.client.xpending(stream, 'millrace-test', '-', '+', 10)) as [
      string,
      string,
      number,
      number,
    ][];
    return all.map(([, , , deliveries]) => deliveries);
  };
  // Not more than one round ahead.
  await expect.poll(pending, { timeout: 20_000 }).toEqual([1, 1]);
  const peer = follow(await openStream(redis, stream, input), ledger);
  const third = await peer.next();
  expect(third.elements.map(({ id }) => id)).toEqual(['c']);
  // Twice as long as an entry may be idle: the peer looks for what was left.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await pending()).toEqual([1, 1, 1]);
  await ledger.apply(first);
  const second = await slow.next();
  expect(second.elements.map(({ id }) => id)).toEqual(['b']);
  await ledger.apply(second);
  await ledger.apply(third);
  expect(await pending()).toEqual([]);
  await peer.end();
  await slow.end();
});

test('a confirmation does not wait behind a blocking read', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [['a', 'ants']]);
  const ledger = new LedgerDouble();
  const reading = follow(await openStream(redis, stream), ledger);
  const delivery = await reading.next();
  const blocked = reading.next().catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const began = performance.now();
  await ledger.apply(delivery);
  // The read waits for 5 s.
  expect(performance.now() - began).toBeLessThan(4_000);
  await reading.end();
  await blocked;
});

test('an entry that ends its process again and again is tried once alone, then failed unread and kept whole', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [
    ['poison', 'it ends whoever reads it'],
    ['good', 'geese'],
  ]);
  const ledger = new LedgerDouble();
  const input = { claimIdleMs: 120, maxDeliveries: 2 };
  /** Stands for a process that takes all there is and is gone. */
  const takeAndDie = async () => {
    const dying = follow(await openStream(redis, stream, input), ledger);
    const delivery = await dying.next();
    await dying.end();
    await new Promise((resolve) => setTimeout(resolve, 150));
    return delivery.elements.map(({ id }) => id);
  };
  expect(await takeAndDie()).toEqual(['poison', 'good']);
  expect(await takeAndDie()).toEqual(['poison', 'good']);
  expect(await takeAndDie()).toEqual(['poison']);
  const elements = await readAll(await openStream(redis, stream, input), ledger);
  const poison = elements.find(({ id }) => id === 'poison');
  expect(poison).toMatchObject({
    kind: 'unreadable',
    error: { code: 'item_hopeless' },
    content: { text: 'it ends whoever reads it' },
  });
  expect(ledger.texts()).toEqual({ good: 'geese' });
  expect(await redis.client.xpending(stream, 'millrace-test')).toEqual([0, null, null, null]);
});

test('a lost group goes on where it had come to, and nothing is lost', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [['a', 'ants']]);
  const ledger = new LedgerDouble();
  const bed = await openStream(redis, stream);
  await readAll(bed, ledger);
  await redis.client.xgroup('DESTROY', stream, 'millrace-test');
  await addDocuments(redis, stream, [
    ['b', 'bees'],
    ['c', 'cows'],
  ]);
  await readAll(await openStream(redis, stream), ledger);
  expect(ledger.texts()).toEqual({ a: 'ants', b: 'bees', c: 'cows' });
});

test('a group that is lost while it is read is made again', async () => {
  const stream = newStream();
  const ledger = new LedgerDouble();
  const bed = await openStream(redis, stream);
  const reading = follow(bed, ledger);
  await addDocuments(redis, stream, [['a', 'ants']]);
  await ledger.apply(await reading.next());
  const next = reading.next();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await redis.client.xgroup('DESTROY', stream, 'millrace-test');
  await addDocuments(redis, stream, [['b', 'bees']]);
  // The whole stream may come again: the fence makes that harmless.
  let delivery = await next;
  while (!delivery.elements.some(({ id }) => id === 'b')) {
    await ledger.apply(delivery);
    delivery = await reading.next();
  }
  await ledger.apply(delivery);
  expect(ledger.texts()).toEqual({ a: 'ants', b: 'bees' });
  expect(bed.notices.map(({ code }) => code)).toContain('group_made_again');
  await reading.end();
});

test('entries trimmed before they were read are counted and told of, once', async () => {
  const stream = newStream();
  const ledger = new LedgerDouble();
  await addDocuments(redis, stream, [['first', 'flies']]);
  await readAll(await openStream(redis, stream), ledger);
  const pipeline = redis.client.pipeline();
  for (let at = 0; at < 1_000; at += 1)
    pipeline.xadd(stream, 'MAXLEN', 100, '*', 'id', `document ${at}`, 'text', `text ${at}`);
  await pipeline.exec();
  const lossy = await openStream(redis, stream);
  expect(await readAll(lossy, ledger)).toHaveLength(100);
  const losses = lossy.notices.filter(({ code }) => code === 'entries_lost');
  expect(losses).toHaveLength(1);
  expect(losses[0]!.message).toContain('900 entries');
  await addDocuments(redis, stream, [['last', 'lice']]);
  const later = await openStream(redis, stream);
  await readAll(later, ledger);
  expect(later.notices).toEqual([]);
});

test('a stream that begins anew with lower ids is newer than all before', async () => {
  const stream = newStream();
  const ledger = new LedgerDouble();
  await redis.client.xadd(stream, '9000-0', 'id', 'a', 'text', 'old');
  await readAll(await openStream(redis, stream), ledger);
  await redis.client.del(stream);
  await redis.client.xadd(stream, '5-0', 'id', 'a', 'text', 'new');
  const anew = await openStream(redis, stream);
  await readAll(anew, ledger);
  expect(ledger.texts()).toEqual({ a: 'new' });
  expect(anew.notices.map(({ code }) => code)).toContain('stream_began_anew');
});

test('reading goes on when Redis comes back', { timeout: 20_000 }, async () => {
  const own = await startRedis();
  try {
    const ledger = new LedgerDouble();
    const bed = await openStream(own, 's', { claimIdleMs: 500 });
    const reading = follow(bed, ledger);
    await addDocuments(own, 's', [['a', 'ants']]);
    await ledger.apply(await reading.next());
    const next = reading.next();
    await own.restart();
    await addDocuments(own, 's', [['b', 'bees']]);
    await ledger.apply(await next);
    expect(ledger.texts()).toEqual({ a: 'ants', b: 'bees' });
    await reading.end();
  } finally {
    await own.stop();
  }
});

test('a group begins where it is told to', async () => {
  const stream = newStream();
  await redis.client.xadd(stream, '10-1', 'id', 'a', 'text', 'ants');
  await redis.client.xadd(stream, '20-1', 'id', 'b', 'text', 'bees');
  const idsFrom = async (from: string) => {
    const elements = await readAll(
      await openStream(redis, stream, { from, group: `from-${from}` }),
      new LedgerDouble(),
    );
    return elements.map(({ id }) => id);
  };
  expect(await idsFrom('start')).toEqual(['a', 'b']);
  expect(await idsFrom('10-1')).toEqual(['b']);
  expect(await idsFrom('now')).toEqual([]);
});

test('a check looks without leaving a mark', async () => {
  const stream = newStream();
  await addDocuments(redis, stream, [['a', 'ants']]);
  const { source } = await openStream(redis, stream);
  expect(await source.probe!()).toContain('1 entries');
  expect(await redis.client.xinfo('GROUPS', stream)).toEqual([]);
});

test('a key that is no stream, a wrong password and a closed port are told apart', async () => {
  await redis.client.set('plain', 'x');
  await expect(openStream(redis, 'plain')).rejects.toMatchObject({
    code: 'source_unavailable',
    hint: expect.stringContaining('stream') as string,
  });
  const locked = await startRedis({ requirepass: 'secret' });
  try {
    await expect(
      openStream({ ...locked, url: locked.url.replace('secret', 'wrong') }, 's'),
    ).rejects.toMatchObject({
      code: 'source_unavailable',
      hint: expect.stringContaining('password') as string,
    });
  } finally {
    await locked.stop();
  }
  await expect(openStream({ ...redis, url: 'redis://127.0.0.1:1' }, 's')).rejects.toMatchObject({
    code: 'source_unavailable',
    hint: expect.stringContaining('running') as string,
  });
});

test('a certificate authority that is not there is named, looked for beside the configuration file', async () => {
  await expect(openStream(redis, newStream(), { ca: 'certificates/own.pem' })).rejects.toMatchObject({
    code: 'config_invalid',
    message: 'The certificate authority /certificates/own.pem cannot be read (ENOENT).',
  });
});

test('entries are read over TLS, from a server that its certificate proves', async () => {
  const stream = newStream();
  const documents = Array.from({ length: 2_000 }, (_, n) => [`d${n}`, `${'x'.repeat(200)}${n}`] as const);
  await addDocuments(redis, stream, documents);
  const { port, ca } = await startTlsProxy(Number(new URL(redis.url).port), { asks: false });
  const secured = { ...redis, url: `rediss://127.0.0.1:${port}` };
  await expect(openStream(secured, stream)).rejects.toMatchObject({ code: 'source_unavailable' });
  const ledger = new LedgerDouble();
  await readAll(await openStream(secured, stream, { ca }), ledger);
  expect(ledger.texts()).toEqual(Object.fromEntries(documents));
});
