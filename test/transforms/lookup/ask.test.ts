import { setMaxListeners } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { httpLookupConfig } from '../../../connectors/http/config.js';
import { openHttpLookup } from '../../../connectors/http/lookup.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import type { RunEvent } from '../../../src/observability/events.js';
import { createAsk, type AskOptions } from '../../../src/transforms/lookup/ask.js';
import { createMemoryCache } from '../../../src/transforms/lookup/row-cache.js';
import { startLookupEndpoint, type EndpointAnswer } from '../../support/lookup-endpoint.js';
import { testContext } from '../../support/test-context.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const rowsFor = (keys: readonly string[]): EndpointAnswer => ({
  kind: 'json',
  value: Object.fromEntries(keys.map((key) => [key, { name: `row ${key}` }])),
});

/** An asker over a real HTTP look-up. @param answer by the keys of one call */
async function open(
  answer: (keys: readonly string[], call: number) => EndpointAnswer | Promise<EndpointAnswer>,
  options: Partial<AskOptions> = {},
) {
  let calls = 0;
  const keysOf = (path: string) => new URL(path, 'http://h').searchParams.get('ids')!.split(',');
  const endpoint = await startLookupEndpoint(({ path }) => answer(keysOf(path), calls++));
  const lookup = await openHttpLookup(
    httpLookupConfig.parse({ url: `${endpoint.origin}/?ids={keys}`, maxKeys: 1_000, allowPrivate: true }),
    { ...testContext(), concurrency: 2 },
  );
  const stop = new AbortController();
  // Every call under way listens, as in a run.
  setMaxListeners(0, stop.signal);
  const events: RunEvent[] = [];
  closing.push(
    async () => stop.abort(new Error('over')),
    () => lookup.close(),
    () => endpoint.close(),
  );
  const ask = createAsk({
    lookup,
    name: 'authors',
    batchSize: 100,
    concurrency: 2,
    timeoutMs: 5_000,
    clock: systemClock,
    signal: stop.signal,
    report: (event) => void events.push(event),
    ...options,
  });
  const asked = () => endpoint.requests.map(({ path }) => keysOf(path));
  return { ask, asked, endpoint, events, stop };
}

describe('asking for rows', () => {
  test('gathers the keys of many callers, each asked for once while it is under way', async () => {
    const { ask, asked, endpoint } = await open(rowsFor, { batchSize: 50 });
    const keys = Array.from({ length: 300 }, (_, at) => `k${at % 120}`);
    const rows = await Promise.all(keys.map(ask));
    expect(rows).toEqual(keys.map((key) => ({ name: `row ${key}` })));
    expect(asked().map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(endpoint.mostOpen).toBeLessThanOrEqual(2);
    await ask('k0');
    expect(asked().length).toBe(4);
  });

  test('a call of 4 s with a limit of 0.5 s is cut off at its limit, not before', async () => {
    const clock = new VirtualClock();
    const slow = async (): Promise<EndpointAnswer> => {
      await clock.sleep(4_000);
      return rowsFor(['a']);
    };
    const { ask, endpoint, stop } = await open(slow, { clock, timeoutMs: 500 });
    const asked = ask('a').catch((error: unknown) => error);
    // The limit and the answer.
    await clock.asleep(2);
    clock.advance(499);
    await systemClock.sleep(20);
    expect(endpoint.aborted).toBe(0);
    clock.advance(1);
    await expect.poll(() => endpoint.aborted, { interval: 5 }).toBe(1);
    stop.abort(new Error('enough'));
    expect(await asked).toMatchObject({ message: 'enough' });
  });

  test('a service that answers nobody is an outage: waited out, and no key fails', async () => {
    let down = true;
    const { ask, events } = await open((keys) => (down ? { kind: 'hang' } : rowsFor(keys)), {
      timeoutMs: 50,
    });
    const asked = ask('a');
    const retries = () => events.filter((event) => event.type === 'retry');
    await expect.poll(() => retries().length).toBeGreaterThan(0);
    expect(retries()[0]).toMatchObject({ pausing: true, error: { code: 'remote_unavailable' } });
    down = false;
    expect(await asked).toEqual({ name: 'row a' });
    expect(events.map(({ type }) => type)).toContain('recovered');
  });

  /** Waits are short on it. */
  const hurried = {
    now: systemClock.now,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
  };
  const ways: EndpointAnswer[] = [
    { kind: 'json', value: {}, status: 500 },
    { kind: 'cut' },
    { kind: 'hang' },
  ];

  test.each(ways)(
    'a key that the service cannot answer (%j) is found by division, and fails alone',
    async (way) => {
      const { ask } = await open((keys) => (keys.includes('poison') ? way : rowsFor(keys)), {
        clock: hurried,
        timeoutMs: 10_000,
      });
      expect(await ask('good')).toEqual({ name: 'row good' });
      const keys = ['a', 'b', 'c', 'poison', 'd'];
      const rows = await Promise.all(keys.map((key) => ask(key).catch((error: Error) => error.message)));
      expect(rows).toEqual([
        { name: 'row a' },
        { name: 'row b' },
        { name: 'row c' },
        expect.stringContaining('It does answer other calls.'),
        { name: 'row d' },
      ]);
    },
  );

  test('a call that fails once is made again, and nobody notices', async () => {
    const { ask, asked } = await open((keys, call) =>
      call === 1 ? { kind: 'json', value: {}, status: 503 } : rowsFor(keys),
    );
    await ask('good');
    expect(await Promise.all(['a', 'b'].map(ask))).toEqual([{ name: 'row a' }, { name: 'row b' }]);
    // The failed call, the probe by what was answered before, and the call again.
    expect(asked()).toEqual([['good'], ['a', 'b'], ['good'], ['a', 'b']]);
  });

  test('a service that has had enough calls is left alone for as long as it says', async () => {
    const clock = new VirtualClock();
    const { ask, asked } = await open(
      (keys, call) =>
        call === 0 ? { kind: 'json', value: {}, status: 429, retryAfter: '30' } : rowsFor(keys),
      { clock, timeoutMs: 3_600_000 },
    );
    const first = ask('a');
    await expect.poll(() => asked().length).toBe(1);
    await clock.asleep();
    clock.advance(29_000);
    await clock.asleep();
    expect(asked().length).toBe(1);
    clock.advance(1_100);
    expect(await first).toEqual({ name: 'row a' });
  });

  test.each([0, 5_000])('calls keep to their rate, with answers after %i ms', async (latency) => {
    const clock = new VirtualClock();
    const { ask, asked } = await open(
      async (keys) => {
        if (latency > 0) await clock.sleep(latency);
        return rowsFor(keys);
      },
      { clock, timeoutMs: 3_600_000, batchSize: 1, concurrency: 100, rps: 10 },
    );
    const rows = Promise.all(Array.from({ length: 25 }, (_, at) => ask(`k${at}`)));
    for (const calls of [10, 20, 25]) {
      await expect.poll(() => asked().length, { interval: 5 }).toBe(calls);
      clock.advance(999);
      await systemClock.sleep(50);
      expect(asked().length).toBe(calls);
      clock.advance(1);
    }
    clock.advance(latency);
    expect((await rows).length).toBe(25);
  });
});

describe('with a cache', () => {
  const cached = (clock: VirtualClock, entries = 100) => ({
    clock,
    timeoutMs: 3_600_000,
    cache: { store: createMemoryCache(entries, clock), prefix: 'p:', ttlMs: 60_000, negativeTtlMs: 6_000 },
  });

  test('a row is asked for once within its time, and so is the news that there is none', async () => {
    const clock = new VirtualClock();
    const { ask, asked } = await open((keys) => rowsFor(keys.filter((key) => key !== 'none')), cached(clock));
    const both = () => Promise.all(['a', 'none'].map(ask));
    expect(await both()).toEqual([{ name: 'row a' }, undefined]);
    clock.advance(5_999);
    expect(await both()).toEqual([{ name: 'row a' }, undefined]);
    expect(asked()).toEqual([['a', 'none']]);
    clock.advance(1);
    expect(await both()).toEqual([{ name: 'row a' }, undefined]);
    expect(asked()).toEqual([['a', 'none'], ['none']]);
    clock.advance(60_000);
    await both();
    expect(asked().length).toBe(3);
  });

  test('it keeps no more rows than it may, and no failure', async () => {
    const clock = new VirtualClock();
    const { ask, asked } = await open(
      (keys, call) => (call === 0 ? { kind: 'json', value: {}, status: 422 } : rowsFor(keys)),
      cached(clock, 2),
    );
    await expect(ask('a')).rejects.toMatchObject({ code: 'transform_failed' });
    for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await ask(key);
    expect(asked()).toEqual([['a'], ['a'], ['b'], ['c'], ['a']]);
  });
});
