import { describe, expect, test } from 'vitest';
import { Admission } from '../../src/flow/admission.js';
import { chunked } from '../../src/flow/chunked.js';
import { KeyedOrder } from '../../src/flow/keyed-order.js';
import { Releasers } from '../../src/flow/releasers.js';
import { Stop } from '../../src/flow/stop.js';
import { systemClock } from '../../src/flow/system-clock.js';

const { signal } = new AbortController();
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('keyed order', () => {
  test('tasks of one key run one after another in the order they came, also after a failure', async () => {
    const order = new KeyedOrder();
    const seen: string[] = [];
    const task = (name: string, ms: number, fail = false) =>
      order
        .run('a', async () => {
          seen.push(`${name} begins`);
          await systemClock.sleep(ms);
          seen.push(`${name} ends`);
          if (fail) throw new Error(name);
        })
        .catch(() => undefined);
    await Promise.all([task('1', 10), task('2', 1, true), task('3', 0)]);
    expect(seen).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
  });

  test('tasks of different keys run side by side', async () => {
    const order = new KeyedOrder();
    const seen: string[] = [];
    await Promise.all([
      order.run('a', async () => void (await systemClock.sleep(20), seen.push('a'))),
      order.run('b', async () => void seen.push('b')),
    ]);
    expect(seen).toEqual(['b', 'a']);
  });

  test('a key that was taken is free once it is left and nobody waited for it', async () => {
    const order = new KeyedOrder();
    expect([order.enter('a'), order.enter('a'), order.enter('b')]).toEqual([true, false, true]);
    const seen: string[] = [];
    const first = order.run('a', async () => void seen.push('first'));
    const second = order.run('a', async () => void seen.push('second'));
    await turn();
    expect(seen).toEqual([]);
    order.leave('a');
    await Promise.all([first, second]);
    expect(seen).toEqual(['first', 'second']);
    expect([order.enter('a'), order.enter('b')]).toEqual([true, false]);
  });

  test('a key is held, and waited for, however many others are taken and left meanwhile', async () => {
    const order = new KeyedOrder();
    order.enter('a');
    const seen: string[] = [];
    const waiting = order.run('a', async () => void seen.push('a'));
    for (let other = 0; other < 10_000; other += 1) {
      expect(order.enter(`other ${other}`)).toBe(true);
      if (other >= 100) order.leave(`other ${other - 100}`);
    }
    expect([order.enter('a'), order.enter('other 9999'), order.enter('other 0')]).toEqual([
      false,
      false,
      true,
    ]);
    order.leave('a');
    await waiting;
    expect(seen).toEqual(['a']);
  });
});

describe('admission', () => {
  test('whoever comes at the bound waits until there is room', async () => {
    const admission = new Admission({ elements: 2, bytes: 1_000 });
    await admission.admit({ elements: 2, bytes: 10 }, signal);
    let admitted = false;
    const waiting = admission.admit({ elements: 1, bytes: 1 }, signal).then(() => (admitted = true));
    await turn();
    expect(admitted).toBe(false);
    admission.release({ elements: 2, bytes: 10 });
    await waiting;
    expect(admission.underWay).toEqual({ elements: 1, bytes: 1 });
  });

  test('a load over the bound is admitted alone', async () => {
    const admission = new Admission({ elements: 10, bytes: 100 });
    await admission.admit({ elements: 1, bytes: 5_000 }, signal);
    expect(admission.underWay.bytes).toBe(5_000);
  });

  test('an abort ends the wait', async () => {
    const admission = new Admission({ elements: 1, bytes: 1 });
    await admission.admit({ elements: 1, bytes: 1 }, signal);
    const stop = new AbortController();
    const waiting = admission.admit({ elements: 1, bytes: 1 }, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});

describe('releasers', () => {
  test('everything is released, last in first out, also when one throws', async () => {
    const seen: number[] = [];
    const releasers = new Releasers();
    releasers.push(() => void seen.push(1));
    releasers.push(() => Promise.reject(new Error('two')));
    releasers.push(() => void seen.push(3));
    await expect(releasers.release()).rejects.toThrow('two');
    expect(seen).toEqual([3, 1]);
    await releasers.release();
    expect(seen).toEqual([3, 1]);
  });
});

describe('stop', () => {
  test('a drain becomes an abort at its deadline', async () => {
    const stop = new Stop(systemClock);
    stop.drain(10);
    expect([stop.draining.aborted, stop.aborting.aborted]).toEqual([true, false]);
    await systemClock.sleep(40);
    expect(stop.aborting.aborted).toBe(true);
  });

  test('an abort drains too', () => {
    const stop = new Stop(systemClock);
    stop.abort();
    expect([stop.draining.aborted, stop.aborting.aborted]).toEqual([true, true]);
  });
});

test('chunked: every item is in exactly one run', () => {
  for (const count of [0, 1, 249, 250, 251]) {
    const items = Array.from({ length: count }, (_, index) => index);
    const runs = [...chunked(items, 250)];
    expect(runs.flat()).toEqual(items);
    expect(runs.every((run) => run.length > 0 && run.length <= 250)).toBe(true);
  }
});
