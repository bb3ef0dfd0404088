import { describe, expect, test } from 'vitest';
import { Breaker } from '../../src/flow/breaker.js';
import { VirtualClock } from '../support/virtual-clock.js';

const { signal } = new AbortController();

describe('the breaker', () => {
  test('makes one probe however many calls failed, and one a round while the service is down', async () => {
    let probes = 0;
    let up = false;
    const clock = new VirtualClock(0);
    const breaker = new Breaker({
      clock,
      probe: async () => {
        probes += 1;
        return up;
      },
    });
    expect(await breaker.pass(signal)).toBe(true);
    expect(probes).toBe(0);
    const verdicts = await Promise.all(Array.from({ length: 8 }, () => breaker.answers(signal)));
    expect(new Set(verdicts)).toEqual(new Set([false]));
    expect(probes).toBe(1);
    expect(await Promise.all([breaker.pass(signal), breaker.pass(signal)])).toEqual([false, false]);
    expect(probes).toBe(2);
    up = true;
    expect(await breaker.pass(signal)).toBe(true);
    expect(await breaker.pass(signal)).toBe(true);
    expect(probes).toBe(3);
  });

  test('holds every call for as long as was asked, the longest wish counting', async () => {
    const clock = new VirtualClock(0);
    const breaker = new Breaker({ clock, probe: async () => true });
    breaker.hold(2_000);
    breaker.hold(500);
    const passed: number[] = [];
    const calls = [1, 2].map(() => breaker.pass(signal).then(() => passed.push(clock.now())));
    await clock.asleep(2);
    clock.advance(1_999);
    await new Promise(setImmediate);
    expect(passed).toEqual([]);
    clock.advance(1);
    await Promise.all(calls);
    expect(passed).toEqual([2_000, 2_000]);
  });

  test('an abort ends the wait for a probe, not the probe', async () => {
    let end = (_: boolean): void => undefined;
    const breaker = new Breaker({
      clock: new VirtualClock(0),
      probe: () => new Promise((resolve) => (end = resolve)),
    });
    const stop = new AbortController();
    const first = breaker.answers(stop.signal);
    const second = breaker.answers(signal);
    stop.abort(new Error('stop'));
    await expect(first).rejects.toThrow('stop');
    end(true);
    expect(await second).toBe(true);
  });
});
