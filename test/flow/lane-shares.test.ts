import { expect, test } from 'vitest';
import { Admission } from '../../src/flow/admission.js';
import { LaneShares } from '../../src/flow/lane-shares.js';
import { VirtualClock } from '../support/virtual-clock.js';

function sharesOf(limits: { elements: number; bytes: number }, ...groups: string[][]) {
  const told: string[] = [];
  const clock = new VirtualClock();
  const admission = new Admission(limits);
  const end = new AbortController();
  const shares = new LaneShares({
    limits,
    admission,
    groups,
    clock,
    signal: end.signal,
    onStall: (lane, elements) => told.push(`${lane} stalls with ${elements}`),
    onFree: (lane) => told.push(`${lane} is free`),
  });
  /** Whether one small element would be let in now. */
  const lets = async () => {
    const probe = new AbortController();
    const load = { elements: 1, bytes: 1 };
    const admitted = admission.admit(load, probe.signal).then(
      () => (admission.release(load), true),
      () => false,
    );
    await new Promise(setImmediate);
    probe.abort();
    return admitted;
  };
  return { shares, told, clock, lets, end };
}

function waiting() {
  let end!: () => void;
  const work = new Promise<void>((resolve) => (end = resolve));
  return { end, work: () => work };
}

test('nothing is let in while a lane is at its share of elements or of bytes', async () => {
  const { shares, lets, end } = sharesOf({ elements: 4, bytes: 100 }, ['a', 'b']);
  const one = waiting();
  const two = waiting();
  const large = waiting();
  const first = shares.run(['a'], 1, one.work);
  expect(await lets()).toBe(true);
  const second = shares.run(['a'], 1, two.work);
  expect(await lets()).toBe(false);
  const third = shares.run(['b'], 60, large.work);
  one.end();
  await first;
  expect(await lets()).toBe(false);
  large.end();
  await third;
  expect(await lets()).toBe(true);
  two.end();
  await second;
  end.abort();
});

test('work that fails gives its room back, and work of two lanes counts in both', async () => {
  const { shares, lets, end } = sharesOf({ elements: 2, bytes: 100 }, ['a', 'b'], ['alone']);
  const failing = shares.run(['a', 'b'], 1, async () => {
    expect(await lets()).toBe(false);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await lets()).toBe(true);
  end.abort();
});

test('a lane is named once it was full for 5 s without a break, not when it is full again and again', async () => {
  const { shares, told, clock, end } = sharesOf({ elements: 2, bytes: 100 }, ['a', 'b']);
  for (let round = 0; round < 20; round += 1) {
    const busy = waiting();
    const run = shares.run(['a'], 1, busy.work);
    clock.advance(900);
    await new Promise(setImmediate);
    busy.end();
    await run;
  }
  expect(told).toEqual([]);
  const stuck = waiting();
  const run = shares.run(['a'], 1, stuck.work);
  clock.advance(4_999);
  await new Promise(setImmediate);
  expect(told).toEqual([]);
  clock.advance(2_000);
  await new Promise(setImmediate);
  expect(told).toEqual(['a stalls with 1']);
  stuck.end();
  await run;
  expect(told).toEqual(['a stalls with 1', 'a is free']);
  end.abort();
});

test('nothing is let in while anybody holds the admission, also when nothing is under way', async () => {
  const admission = new Admission({ elements: 10, bytes: 10 });
  const { signal } = new AbortController();
  admission.hold('a');
  admission.hold('b');
  let inside = false;
  const entering = admission.admit({ elements: 1, bytes: 1 }, signal).then(() => (inside = true));
  admission.letGo('a');
  await new Promise(setImmediate);
  expect(inside).toBe(false);
  admission.letGo('b');
  await entering;
  expect(admission.underWay).toEqual({ elements: 1, bytes: 1 });
});
