import { expect, test } from 'vitest';
import type { Document } from '../../src/elements/document.js';
import { document, logOf, outcomes, usePglite } from '../promises/bed.js';

const openBed = usePglite();

/** An enrichment that fails for each document so many times. */
function failing(times: number) {
  const left = new Map<string, number>();
  return {
    chain: [
      {
        enrich: {
          name: 'flaky',
          batchSize: 1,
          batch: async (documents: readonly Document[]) =>
            documents.map(({ id }) => {
              const rest = left.get(id) ?? times;
              left.set(id, rest - 1);
              return rest > 0 ? new Error('Not yet.') : { metadata: { enriched: true } };
            }),
        },
      },
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
}

test('a replay sends the element through the whole chain and forgets its record', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.', 'b.md': 'Bees.' });
  const input = failing(1);
  expect((await bed.run({ input })).outcomes.failed).toBe(2);
  const { runs, unreadable } = await bed.replay({ input });
  expect(runs).toMatchObject([{ outcomes: { stored: 2, failed: 0 }, embedded: 2 }]);
  expect(unreadable).toEqual([]);
  expect(await bed.failed()).toEqual([]);
  expect((await bed.content()).chunks).toMatchObject([
    { text: 'Ants.', metadata: { enriched: true } },
    { text: 'Bees.', metadata: { enriched: true } },
  ]);
  expect((await bed.replay({ input })).runs).toEqual([]);
});

test('a replay that fails again counts one more attempt and keeps the first time', async () => {
  const bed = await openBed();
  const input = failing(3);
  await bed.run({ source: logOf([document('a', 1, 'ants')]), input });
  const [first] = await bed.failed();
  await bed.replay({ input });
  const [second] = await bed.failed();
  expect(second).toMatchObject({ attempts: 2, firstAt: first!.firstAt, element: { text: 'ants' } });
});

test('an old failure never overwrites newer data', async () => {
  const bed = await openBed();
  const input = failing(1);
  await bed.run({ source: logOf([document('a', 1, 'old')]), input });
  const old = await bed.failed();
  // A newer version comes in, and the record of the old failure is still there, as after a crash.
  await bed.run({
    source: logOf([document('a', 2, 'new')]),
    input,
    faults: { failed: (store) => ({ ...store, discard: async () => 0 }) },
  });
  expect(await bed.failed()).toEqual(old);
  const { runs } = await bed.replay({ input });
  expect(runs).toMatchObject([{ outcomes: { stale: 1, stored: 0 } }]);
  expect(await bed.texts('a')).toEqual(['new']);
  expect(await bed.failed()).toEqual([]);
});

test('what could not be read is named, not replayed', async () => {
  const bed = await openBed();
  await bed.write({ 'a.jsonl': '{"id": 1, "text": "ants"}\n{broken\n' });
  await bed.run();
  const { runs, unreadable } = await bed.replay();
  expect(runs).toEqual([]);
  expect(unreadable).toHaveLength(1);
  expect(await bed.failed()).toHaveLength(1);
});

test('a document that fails first and comes well later in one delivery leaves no record', async () => {
  const bed = await openBed();
  const log = logOf([document('a', 1, 'ants'), document('a', 1, 'ants again')]);
  await bed.run({ source: log, input: failing(1) });
  expect(outcomes(log)).toEqual(['failed', 'stored']);
  expect(await bed.failed()).toEqual([]);
});
