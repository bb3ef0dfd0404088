import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimiter, type RateLimits } from '../../src/flow/rate-limiter.js';
import { VirtualClock } from '../support/virtual-clock.js';

const { signal } = new AbortController();
const minute = 60_000;

/** Takes all at once and says when each was let through. */
async function times(limits: RateLimits, costs: readonly number[]): Promise<number[]> {
  const clock = new VirtualClock(0);
  const limiter = new RateLimiter(limits, clock);
  let left = costs.length;
  const admitted = costs.map(async (cost) => {
    await limiter.take(cost, signal);
    left -= 1;
    return clock.now();
  });
  while (left > 0) {
    await new Promise(setImmediate);
    if (clock.sleeping > 0) clock.advance(100);
  }
  return Promise.all(admitted);
}

describe('the rate limiter', () => {
  test('lets no minute hold more requests or more tokens than allowed, keeps the order and wastes nothing', async () => {
    const costs = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(costs, fc.integer({ min: 1, max: 8 }), async (all, requests) => {
        const tokens = 100;
        const at = await times({ requests, tokens }, all);
        expect(at).toEqual([...at].sort((a, b) => a - b));
        all.forEach((cost, index) => {
          const inWindow = (time: number, first: number) =>
            all.filter((_, other) => other >= first && at[other]! >= time && at[other]! < time + minute);
          const window = inWindow(at[index]!, 0);
          expect(window.length).toBeLessThanOrEqual(requests);
          expect(window.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(tokens);
          if (index === 0) return;
          // It could not have gone 100 ms earlier.
          const before = all.filter(
            (_, other) =>
              other < index && at[other]! > at[index]! - 100 - minute && at[other]! <= at[index]! - 100,
          );
          const couldHave =
            before.length < requests && before.reduce((sum, one) => sum + one, 0) + cost <= tokens;
          if (at[index] !== at[index - 1]) expect(couldHave).toBe(false);
        });
      }),
      { numRuns: 40 },
    );
  });

  test('lets a call over the limit through alone', async () => {
    expect(await times({ tokens: 100 }, [10, 500, 10])).toEqual([0, minute, 2 * minute]);
  });

  test('counts what a call really cost', async () => {
    const clock = new VirtualClock(0);
    const limiter = new RateLimiter({ tokens: 100 }, clock);
    (await limiter.take(90, signal)).correct(20);
    await limiter.take(80, signal);
    expect(clock.now()).toBe(0);
    const late = limiter.take(1, signal);
    await clock.asleep();
    clock.advance(minute);
    await late;
    expect(clock.now()).toBe(minute);
  });

  test('forgets who stopped waiting', async () => {
    const clock = new VirtualClock(0);
    const limiter = new RateLimiter({ requests: 1 }, clock);
    await limiter.take(1, signal);
    const stop = new AbortController();
    const waiting = limiter.take(1, stop.signal);
    const next = limiter.take(1, signal);
    await clock.asleep();
    const later = new AbortController();
    const third = limiter.take(1, later.signal);
    later.abort(new Error('later'));
    await expect(third).rejects.toThrow('later');
    stop.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    await clock.asleep();
    clock.advance(minute);
    await next;
    expect(clock.now()).toBe(minute);
    expect(clock.sleeping).toBe(0);
  });

  test('without limits nobody waits', async () => {
    expect(await times({}, [1, 1_000_000, 5])).toEqual([0, 0, 0]);
  });
});
