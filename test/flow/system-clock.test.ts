import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/flow/system-clock.js';

const dayMs = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a sleep lasts as long as it was asked for, also where that is more than a timer can hold', async () => {
  let over = false;
  const slept = systemClock.sleep(60 * dayMs).then(() => (over = true));
  await vi.advanceTimersByTimeAsync(60 * dayMs - 1);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await slept;
});

test('a sleep of months ends at once when its signal aborts, and leaves no timer', async () => {
  const stop = new AbortController();
  const slept = systemClock.sleep(60 * dayMs, stop.signal);
  const rejected = expect(slept).rejects.toThrow('over');
  await vi.advanceTimersByTimeAsync(30 * dayMs);
  stop.abort(new Error('over'));
  await rejected;
  expect(vi.getTimerCount()).toBe(0);
});
