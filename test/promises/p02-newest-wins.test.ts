import { expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { deletion, document, logOf, outcomes, usePglite, version, type Log } from './bed.js';
import type { Document } from '../../src/elements/document.js';

const openBed = usePglite();

/** Documents that hold `word` wait until `released`. */
function slow(word: string, released: Promise<unknown>) {
  return {
    chain: [
      {
        enrich: {
          name: 'slow',
          batchSize: 1,
          batch: async (documents: readonly Document[]) => {
            if (documents.some(({ text }) => text.includes(word))) await released;
            return documents.map(() => ({}));
          },
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
}

test('late and duplicate older versions change nothing', async () => {
  const bed = await openBed();
  const log = logOf(
    [document('a', 2, 'second')],
    [document('a', 1, 'first')],
    [document('a', 2, 'second')],
    [document('b', 3, 'bees'), deletion('b', 5), document('b', 4, 'late bees')],
    [deletion('c', 2), document('c', 1, 'cows')],
  );
  await bed.run({ source: log });
  expect(outcomes(log)).toEqual([
    ...['stored', 'stale', 'unchanged'],
    ...['stored', 'deleted', 'stale'],
    ...['deleted', 'stale'],
  ]);
  expect((await bed.content()).chunks.map(({ text }) => text)).toEqual(['second']);
});

test('a slow older version that ends last does not overwrite a newer one of another daemon', async () => {
  const bed = await openBed();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const old = logOf([document('a', 1, 'first'), document('b', 1, 'first, to be deleted')]);
  const slowRun = bed.run({ source: old, input: slow('first', released) });
  const fresh: Log = logOf([document('a', 2, 'second'), deletion('b', 2)]);
  await bed.run({ source: fresh, input: slow('first', released) });
  release();
  await slowRun;
  expect(outcomes(fresh)).toEqual(['stored', 'deleted']);
  expect(outcomes(old)).toEqual(['stale', 'stale']);
  expect((await bed.content()).chunks.map(({ text }) => text)).toEqual(['second']);
});

test('versions of one document in one delivery keep their order', async () => {
  const bed = await openBed();
  const positions = Array.from({ length: 20 }, (_, at) => at + 1);
  const log = logOf(positions.map((at) => document('a', at, `version ${at}`)));
  await bed.run({ source: log });
  expect(await bed.texts('a')).toEqual(['version 20']);
});

test('a failed newer version keeps the last good one and drops older ones', async () => {
  const bed = await openBed();
  const input = {
    chain: [
      {
        enrich: {
          name: 'poison',
          batch: async (documents: readonly Document[]) =>
            documents.map(({ text }) => (text.includes('poison') ? new Error('poison') : {})),
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  const log = logOf([document('a', 1, 'good')], [document('a', 3, 'poison')], [document('a', 2, 'between')]);
  await bed.run({ source: log, input });
  expect(outcomes(log)).toEqual(['stored', 'failed', 'stale']);
  expect(await bed.texts('a')).toEqual(['good']);
  expect(await bed.failed()).toMatchObject([{ documentId: 'a', version: version(3) }]);
  const mended = logOf([document('a', 4, 'mended')]);
  await bed.run({ source: mended, input });
  expect(await bed.texts('a')).toEqual(['mended']);
  expect(await bed.failed()).toEqual([]);
});

test('an older version that fails once a newer one is in leaves no record', async () => {
  const bed = await openBed();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const failing = {
    chain: [
      {
        enrich: {
          name: 'slow',
          batch: async (documents: readonly Document[]) => {
            if (!documents.some(({ text }) => text === 'old')) return documents.map(() => ({}));
            await released;
            throw new MillraceError('transform_failed', 'It failed at last.');
          },
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  const old = logOf([document('a', 1, 'old')]);
  const slowRun = bed.run({ source: old, input: failing });
  await bed.run({ source: logOf([document('a', 2, 'new')]), input: failing });
  release();
  await slowRun;
  expect(outcomes(old)).toEqual(['stale']);
  expect(await bed.failed()).toEqual([]);
  expect(await bed.texts('a')).toEqual(['new']);
});

test('a document of another source is refused whatever the versions, and its owner keeps it', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([document('a', 9, 'owned')]) });
  const other = { ...logOf([document('a', 5, 'foreign')]), name: 'other' };
  await bed.run({ source: other });
  expect(outcomes(other)).toEqual(['failed']);
  expect(await bed.failed()).toMatchObject([
    { documentId: 'a', source: 'other', error: { code: 'owner_mismatch' } },
  ]);
  expect(await bed.texts('a')).toEqual(['owned']);
});

test('a sweep does not delete what came back after its pass began', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'ants', 'b.md': 'bees' });
  await bed.run();
  await bed.remove('a.md');
  // Between the look at what is gone and its deletion, another daemon sees the file again.
  await bed.run({
    faults: {
      store: (store) => ({
        ...store,
        sink: {
          ...store.sink,
          listUnnamed: async (scope, after, limit) => {
            const ids = await store.sink.listUnnamed(scope, after, limit);
            if (ids.length > 0) {
              await bed.write({ 'a.md': 'ants again' });
              await bed.run();
            }
            return ids;
          },
        },
      }),
    },
  });
  expect(await bed.texts('a.md')).toEqual(['ants again']);
});

test('an outage of the store during a sweep is waited out, and the sweep is done', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'ants', 'b.md': 'bees' });
  await bed.run();
  await bed.remove('a.md');
  let outages = 0;
  const failingOnce = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    let calls = 0;
    return async (...args: Args) => {
      calls += 1;
      if (calls > 1) return call(...args);
      outages += 1;
      throw new MillraceError('store_unavailable', 'The store is away.');
    };
  };
  const summary = await bed.run({
    faults: {
      store: (store) => ({
        ...store,
        sink: {
          ...store.sink,
          countUnnamed: failingOnce(store.sink.countUnnamed),
          listUnnamed: failingOnce(store.sink.listUnnamed),
        },
      }),
    },
  });
  expect(outages).toBe(2);
  expect(summary).toMatchObject({ end: 'complete', outcomes: { deleted: 1, failed: 0 } });
  expect(await bed.texts('a.md')).toEqual([]);
});
