import { expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { document, logOf, outcomes, usePglite, type Faults } from './bed.js';

const openBed = usePglite();

/** A store whose writes fail so many times with this code, some of them after they took effect. */
function failingWrites(times: number, code: 'store_unavailable' | 'store_layout', late = false): Faults {
  let left = times;
  return {
    store: (store) => ({
      ...store,
      sink: {
        ...store.sink,
        write: async (writes, signal) => {
          const fails = left-- > 0;
          if (fails && !late) throw new MillraceError(code, 'The write failed.');
          const results = await store.sink.write(writes, signal);
          if (fails) throw new MillraceError(code, 'The answer to the write was lost.');
          return results;
        },
      },
    }),
  };
}

const poison = (text: string) => ({
  chain: [
    {
      enrich: {
        name: 'poison',
        batch: async (documents: readonly { text: string }[]) =>
          documents.map((one) => (one.text.includes(text) ? new Error('This one is poison.') : {})),
      },
    },
    { chunk: { markdown: {} } },
    { embed: { static: { model: 'bundled' } } },
  ],
});

test('an outage of the store is waited out, and every element settles after its write', async () => {
  const bed = await openBed();
  const log = logOf([document('a', 1, 'ants')], [document('b', 1, 'bees')]);
  const seen: string[] = [];
  const summary = await bed.run({
    source: log,
    faults: failingWrites(2, 'store_unavailable'),
    onEvent: ({ type }) => seen.push(type),
  });
  expect(summary.outcomes).toMatchObject({ stored: 2, failed: 0 });
  expect(outcomes(log)).toEqual(['stored', 'stored']);
  expect(seen.filter((type) => type === 'retry').length).toBeGreaterThan(0);
  expect(seen).toContain('recovered');
  expect((await bed.content()).chunks.map(({ text }) => text)).toEqual(['ants', 'bees']);
});

test('a write whose answer was lost is made again without harm', async () => {
  const bed = await openBed();
  const log = logOf([document('a', 1, 'ants')]);
  await bed.run({ source: log, faults: failingWrites(1, 'store_unavailable', true) });
  expect(outcomes(log)).toHaveLength(1);
  expect((await bed.content()).chunks.map(({ text }) => text)).toEqual(['ants']);
  expect(await bed.failed()).toEqual([]);
});

test('what was under way when a fault ended the run is not settled, and the next run stores and embeds it', async () => {
  const bed = await openBed();
  const cut = logOf([document('a', 1, 'ants')], [document('b', 1, 'bees')]);
  await expect(bed.run({ source: cut, faults: failingWrites(9, 'store_layout') })).rejects.toMatchObject({
    code: 'store_layout',
  });
  expect(cut.settled.size).toBe(0);
  const again = logOf([document('a', 1, 'ants')], [document('b', 1, 'bees')]);
  const summary = await bed.run({ source: again });
  expect(summary).toMatchObject({ embedded: 2, outcomes: { stored: 2 } });
  expect(outcomes(again)).toEqual(['stored', 'stored']);
});

test('a failure settles only once its record is durable, with one record however often the put was refused', async () => {
  const bed = await openBed();
  const log = logOf([document('bad', 1, 'poison')]);
  let refusals = 2;
  const settledAtPut: number[] = [];
  await bed.run({
    source: log,
    input: poison('poison'),
    faults: {
      failed: (store) => ({
        ...store,
        put: async (records) => {
          settledAtPut.push(log.settled.size);
          if (refusals-- > 0) throw new MillraceError('failed_sink_unavailable', 'The disk is full.');
          await store.put(records);
        },
      }),
    },
  });
  expect(settledAtPut).toEqual([0, 0, 0]);
  expect(outcomes(log)).toEqual(['failed']);
  expect(await bed.failed()).toMatchObject([
    {
      documentId: 'bad',
      attempts: 1,
      stage: 'enrich',
      error: { code: 'transform_failed' },
      element: { text: 'poison' },
    },
  ]);
});

test('an element whose failure nobody will keep is never settled, and fails durably at the next run', async () => {
  const bed = await openBed();
  const stuck = logOf([document('bad', 1, 'poison')]);
  const abort = new AbortController();
  const summary = await bed.run({
    source: stuck,
    input: poison('poison'),
    abort: abort.signal,
    onEvent: (event) => {
      if (event.type === 'retry' && event.attempt === 2) abort.abort();
    },
    faults: {
      failed: (store) => ({
        ...store,
        put: async () => {
          throw new MillraceError('failed_sink_unavailable', 'The disk is full.');
        },
      }),
    },
  });
  expect(summary.end).toBe('aborted');
  expect(stuck.settled.size).toBe(0);
  expect(await bed.failed()).toEqual([]);

  const log = logOf([document('bad', 1, 'poison')]);
  await bed.run({ source: log, input: poison('poison') });
  expect(outcomes(log)).toEqual(['failed']);
  expect(await bed.failed()).toHaveLength(1);
});

test('a mended document leaves no record behind, also when the run was cut off before the record went', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'poison', 'b.md': 'bees' });
  await bed.run({ input: poison('poison') });
  expect(await bed.failed()).toHaveLength(1);
  await bed.write({ 'a.md': 'cured' });
  await bed.run({
    input: poison('poison'),
    faults: { failed: (store) => ({ ...store, discard: async () => 0 }) },
  });
  expect(await bed.failed()).toHaveLength(1);
  expect((await bed.run({ input: poison('poison') })).outcomes).toMatchObject({ unchanged: 2 });
  expect(await bed.failed()).toEqual([]);
});

test('the record of a document that never came in goes with its file', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'poison', 'b.md': 'bees' });
  await bed.run({ input: poison('poison') });
  await bed.remove('a.md');
  await bed.run({ input: poison('poison') });
  expect(await bed.failed()).toEqual([]);
  expect((await bed.content()).ledger).toMatchObject([
    { documentId: 'a.md', state: 'deleted' },
    { documentId: 'b.md', state: 'stored' },
  ]);
});
