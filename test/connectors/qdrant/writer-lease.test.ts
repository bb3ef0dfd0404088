import { expect, it } from 'vitest';
import type { QdrantPort } from '../../../connectors/qdrant/port.js';
import { createEngine } from '../../support/qdrant/engine.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { kinds, layout, layoutOf, storing, textsOf } from '../../suites/store-samples.js';
import { processesOver } from './processes-over.js';
import { takeOverAll } from './take-over-all.js';

/** Stores of one pipeline, as several processes have them, and a clock that they share. */
function processes() {
  const clock = new VirtualClock();
  const pass = async (ms: number) => {
    for (let gone = 0; gone < ms; gone += 50) {
      clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { pass, ...processesOver(createEngine(), 'leases', clock) };
}

/** A port whose conditional changes of the ledger wait until they are let go. */
function heldAtCommit(port: QdrantPort, before: boolean) {
  let go = () => {};
  const released = new Promise<void>((resolve) => (go = resolve));
  let reached = () => {};
  const held = new Promise<void>((resolve) => (reached = resolve));
  const over: QdrantPort = {
    ...port,
    replace: async (collection, ...rest) => {
      const concerned = collection.endsWith('_ledger');
      if (concerned && !before) await port.replace(collection, ...rest);
      if (concerned) {
        reached();
        await released;
      }
      if (!concerned || before) await port.replace(collection, ...rest);
    },
  };
  return { over, held, go };
}

it('is waited for before documents are listed: a write that began before a generation was made is in it', async () => {
  const { pass, port, open } = processes();
  const { over, held, go } = heldAtCommit(port, true);
  const writer = open(over);
  await writer.prepare(layout);
  const write = writer.sink.write([storing('a', 1, ['one'])]);
  await held;
  const generations = open().generations!;
  const two = await generations.start(layoutOf(4), {});
  let enlisted = false;
  const enlisting = generations.enlist(two).then(() => (enlisted = true));
  await pass(2_000);
  expect(enlisted).toBe(false);
  go();
  expect(kinds(await write)).toEqual(['done']);
  // The writer is idle now: its lease runs out, and is over one second later.
  while (!enlisted) await pass(500);
  await enlisting;
  expect(await generations.behind(two)).toMatchObject({ documents: 1 });
});

it.each([true, false])(
  'that ran out on the way acknowledges nothing once another generation is active (commit held before it takes effect: %s)',
  async (before) => {
    const { pass, port, open } = processes();
    const { over, held, go } = heldAtCommit(port, before);
    const writer = open(over);
    await writer.prepare(layout);
    const other = open();
    await other.prepare(layout);
    await other.sink.write([storing('b', 1, ['two'])]);
    const generations = other.generations!;
    const two = await generations.start(layoutOf(4), {});
    await generations.enlist(two);
    await takeOverAll(generations, two);
    const write = writer.sink.write([storing('a', 1, ['one'])]);
    await held;
    const pausing = generations.pause(60_000);
    let paused = false;
    void pausing.then(() => (paused = true));
    while (!paused) await pass(500);
    // What took effect before the pause is found and told of, whoever made it.
    if (!before) {
      await generations.reconcile(two);
      await takeOverAll(generations, two);
    }
    expect(await generations.switchTo(two)).toBe(true);
    go();
    await expect(write).rejects.toMatchObject({ code: 'generation_moved' });
    const next = open();
    await next.prepare(layout);
    expect(await textsOf(next, 'a')).toEqual(before ? [] : ['one']);
    expect(kinds(await next.sink.write([storing('a', 1, ['one'])]))).toEqual([before ? 'done' : 'stale']);
    expect(await textsOf(next, 'a')).toEqual(['one']);
  },
);

it('that ran out on the way waits for a switch that is being made, and acknowledges nothing that it passed by', async () => {
  const { pass, port, open } = processes();
  const commit = heldAtCommit(port, true);
  const writer = open(commit.over);
  await writer.prepare(layout);
  let [begun, release] = [() => {}, () => {}];
  const switchBegan = new Promise<void>((resolve) => (begun = resolve));
  const switchGoes = new Promise<void>((resolve) => (release = resolve));
  const generations = open({
    ...port,
    replace: async (collection, points, ...rest) => {
      if (points.some(({ payload }) => String(payload['json']).includes('"active":2'))) {
        begun();
        await switchGoes;
      }
      await port.replace(collection, points, ...rest);
    },
  }).generations!;
  const two = await generations.start(layoutOf(4), {});
  await generations.enlist(two);
  let outcome: unknown;
  void writer.sink.write([storing('a', 1, ['one'])]).then(
    (results) => (outcome = results),
    (error: unknown) => (outcome = error),
  );
  await commit.held;
  let paused = false;
  void generations.pause(60_000).then(() => (paused = true));
  while (!paused) await pass(500);
  const switching = generations.switchTo(two);
  await switchBegan;
  // All was looked at and found whole; now the write takes effect in the generation that is left.
  commit.go();
  await pass(1_000);
  expect(outcome).toBeUndefined();
  release();
  expect(await switching).toBe(true);
  await pass(1_000);
  expect(outcome).toMatchObject({ code: 'generation_moved' });
});

it('is gone when its store is closed, so nobody waits for it', async () => {
  const { port, open } = processes();
  const writer = open();
  await writer.prepare(layout);
  await writer.sink.write([storing('a', 1, ['one'])]);
  await writer.close();
  const leases = await port.count('millrace_leases_artifacts', {
    must_not: [{ is_empty: { key: 'beat' } }],
  });
  expect(leases).toBe(0);
  const generations = open().generations!;
  await generations.enlist(await generations.start(layoutOf(4), {}));
});

it('lets a writer go on when a pause is over, and then a switch that comes late fails', async () => {
  const { pass, open } = processes();
  const writer = open();
  await writer.prepare(layout);
  const generations = open().generations!;
  const two = await generations.start(layoutOf(4), {});
  await generations.enlist(two);
  await generations.pause(5_000);
  const write = writer.sink.write([storing('a', 1, ['one'])]);
  let written = false;
  void write.then(() => (written = true));
  await pass(4_000);
  expect(written).toBe(false);
  while (!written) await pass(500);
  expect(kinds(await write)).toEqual(['done']);
  await takeOverAll(generations, two);
  expect(await generations.switchTo(two)).toBe(false);
  expect(await generations.active()).toBe(1);
});

it('names the chunks of the active generation for other tools, also where a switch was cut off before it did', async () => {
  const { port, open } = processes();
  const store = open();
  await store.prepare(layout);
  expect(await port.aliases('millrace_leases')).toEqual(['millrace_leases_now']);
  const cut: QdrantPort = {
    ...port,
    alias: () => Promise.reject(new Error('killed')),
  };
  const generations = open(cut).generations!;
  const two = await generations.start(layoutOf(4), {});
  await generations.enlist(two);
  await generations.pause(5_000);
  await expect(generations.switchTo(two)).rejects.toThrow('killed');
  expect(await generations.active()).toBe(2);
  expect(await port.aliases('millrace_leases')).toEqual(['millrace_leases_now']);
  await open().prepare(layout);
  expect(await port.aliases('millrace_leases')).toEqual([]);
  expect(await port.aliases('millrace_leases_g2')).toEqual(['millrace_leases_now']);
});
