import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../src/errors/codes.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { errorPolicy } from '../../src/flow/error-policy.js';
import { retry } from '../../src/flow/retry.js';

/** A clock that passes by itself: every sleep is over at once and written down. */
function instantClock() {
  const slept: number[] = [];
  return {
    slept,
    now: () => 0,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      slept.push(ms);
    },
  };
}

function failing(times: number, error: unknown) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw error;
    return calls;
  };
}

const { signal } = new AbortController();

describe('retry', () => {
  test('every error code has its row in the policy', () => {
    expect(Object.keys(errorPolicy).sort()).toEqual([...errorCodes].sort());
  });

  test('an outage is waited out, however long, with growing and then steady delays', async () => {
    const clock = instantClock();
    const calls = await retry(failing(40, new MillraceError('store_unavailable', 'gone')), { clock, signal });
    expect(calls).toBe(41);
    expect(clock.slept).toHaveLength(40);
    expect([...clock.slept].sort((a, b) => a - b)).toEqual(clock.slept);
    expect(new Set(clock.slept.slice(-20)).size).toBe(1);
  });

  test('a conflict is tried a few times, then it is an error', async () => {
    const clock = instantClock();
    const error = new MillraceError('store_conflict', 'deadlock');
    await expect(retry(failing(2, error), { clock, signal })).resolves.toBe(3);
    await expect(retry(failing(99, error), { clock: instantClock(), signal })).rejects.toBe(error);
  });

  test('an unknown error is not tried again', async () => {
    const clock = instantClock();
    await expect(retry(failing(1, new TypeError('oops')), { clock, signal })).rejects.toMatchObject({
      code: 'internal',
    });
    expect(clock.slept).toEqual([]);
  });

  test('an abort ends the wait with its reason, and its listener is gone', async () => {
    const stop = new AbortController();
    const reason = new MillraceError('aborted', 'stop');
    const clock = {
      now: () => 0,
      sleep: (_: number, until?: AbortSignal) =>
        new Promise<void>((_resolve, reject) =>
          until?.addEventListener('abort', () => reject(until.reason as Error)),
        ),
    };
    const result = retry(failing(9, new MillraceError('store_unavailable', 'gone')), {
      clock,
      signal: stop.signal,
    });
    setImmediate(() => stop.abort(reason));
    await expect(result).rejects.toBe(reason);
  });

  test('an outage and its end are told', async () => {
    const told: string[] = [];
    await retry(failing(2, new MillraceError('remote_unavailable', 'gone')), {
      clock: instantClock(),
      signal,
      onRetry: ({ attempt, pausing }) => told.push(`retry ${attempt} ${pausing}`),
      onRecovered: () => told.push('recovered'),
    });
    expect(told).toEqual(['retry 1 true', 'retry 2 true', 'recovered']);
  });

  test('waits at least as long as the error asks, and spreads many callers', async () => {
    const clock = instantClock();
    const error = new MillraceError('rate_limited', 'enough', { retryAfterMs: 2_000 });
    await retry(failing(3, error), { clock, signal, chance: () => 0.5 });
    expect(clock.slept).toEqual([2_250, 2_250, 2_250]);
  });

  test('a policy with few tries keeps its count whatever the error asks', async () => {
    const clock = instantClock();
    const error = new MillraceError('remote_failed', 'this one', { retryAfterMs: 9_000 });
    await expect(retry(failing(99, error), { clock, signal })).rejects.toBe(error);
    expect(clock.slept).toEqual([9_000, 9_000, 9_000]);
  });

  test('an outage before it takes nothing from the tries of an error that has few', async () => {
    const outage = Array<MillraceError>(12).fill(new MillraceError('store_unavailable', 'gone'));
    const conflict = new MillraceError('store_conflict', 'deadlock');
    const errors = [...outage, conflict, conflict];
    const call = async () => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return 'written';
    };
    await expect(retry(call, { clock: instantClock(), signal })).resolves.toBe('written');
  });

  test('errors of two kinds in turn do not go on for ever where one of them has few tries', async () => {
    let calls = 0;
    const kinds = ['store_conflict', 'remote_failed'] as const;
    const call = async () => {
      throw new MillraceError(kinds[calls++ % 2]!, 'in turn');
    };
    await expect(retry(call, { clock: instantClock(), signal })).rejects.toMatchObject({
      code: 'store_conflict',
    });
    expect(calls).toBe(7);
  });
});
