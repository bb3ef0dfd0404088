import { expect, test } from 'vitest';
import { versionOf, type Version } from '../../src/elements/version.js';
import { createObservation } from '../../src/runtime/observation.js';

/** The ledger of a store in which somebody with another clock writes too. */
function bed(microseconds: number) {
  const held = new Map<string, Version>();
  const clock = { time: microseconds, now: () => clock.time / 1_000 };
  const ledger = async (id: string) => ({ version: held.get(id), failedVersion: undefined });
  return { held, clock, ...createObservation({ ledger }, clock) };
}

test('a version is the time, or the one after what the store knows', async () => {
  const { held, observe } = bed(1_000_000);
  held.set('ahead', versionOf(0, 5_000_000, 7));
  held.set('behind', versionOf(0, 900_000));
  expect(await observe(['new', 'behind', 'ahead'])).toEqual([
    versionOf(0, 1_000_000),
    versionOf(0, 1_000_000),
    versionOf(0, 5_000_000, 8),
  ]);
});

test('a pass begins above all that was given, however far the store is ahead, and not above what is given later', async () => {
  const { held, clock, observe, passStart } = bed(1_000_000);
  held.set('ahead', versionOf(0, 5_000_000));
  const [given] = await observe(['ahead']);
  const first = await passStart();
  const [later] = await observe(['new']);
  const second = await passStart();
  clock.time = 0;
  const [last] = await observe(['new too']);
  expect([given!, first, later!, second, last!]).toEqual([
    versionOf(0, 5_000_000, 1),
    versionOf(0, 5_000_002),
    versionOf(0, 5_000_002),
    versionOf(0, 5_000_003),
    versionOf(0, 5_000_003),
  ]);
});
