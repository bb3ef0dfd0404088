import { expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Source } from '../../src/contracts/source.js';
import type { SourceElement } from '../../src/elements/document.js';
import { deletion, document, logOf, outcomes, usePglite, version, type Faults } from './bed.js';

const openBed = usePglite();

const unreadable = (id: string, position: number): SourceElement => ({
  kind: 'unreadable',
  id,
  version: version(position),
  error: new MillraceError('item_malformed', 'It has no text.'),
});

/** The failed elements are never told that a failure is over: as when the process is killed before. */
const killedBeforeDiscard: Faults = {
  failed: (failed) => ({ ...failed, discard: () => Promise.resolve(0) }),
};

test('a record that a killed process left behind goes at the next start; the failures that stand stay', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([unreadable('mended', 1), unreadable('broken', 1)]) });
  await bed.run({ source: logOf([document('mended', 2, 'well')]), faults: killedBeforeDiscard });
  expect((await bed.failed()).map(({ documentId }) => documentId).sort()).toEqual(['broken', 'mended']);
  await bed.run({ source: logOf() });
  expect((await bed.failed()).map(({ documentId }) => documentId)).toEqual(['broken']);
});

test('a record whose end was hidden by a lost answer goes once all is caught up', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([unreadable('mended', 1)]) });
  const log = logOf([document('mended', 2, 'well')]);
  const source: Source = {
    ...log,
    async *deliveries(context) {
      yield* log.deliveries(context);
      yield { kind: 'caught-up' };
    },
  };
  let lost = 0;
  const lostAnswer: Faults = {
    store: (store) => ({
      ...store,
      sink: {
        ...store.sink,
        write: async (writes, signal) => {
          const results = await store.sink.write(writes, signal);
          if ((lost += 1) === 1) throw new MillraceError('store_unavailable', 'The answer was lost.');
          return results;
        },
      },
    }),
  };
  await bed.run({ source, watch: true, faults: lostAnswer });
  expect(outcomes(log)).toEqual(['stale']);
  expect(await bed.failed()).toEqual([]);
});

test('the failure of a document that was deleted before goes with all that is cleared, from the ledger too', async () => {
  const bed = await openBed();
  const log = logOf(
    [document('gone', 1, 'well')],
    [deletion('gone', 2)],
    [unreadable('gone', 3)],
    [unreadable('never', 3)],
    [unreadable('later', 9)],
  );
  const source: Source = {
    ...log,
    async *deliveries(context) {
      yield* log.deliveries(context);
      const scope = { prefix: '', except: [], since: version(4) };
      yield { kind: 'cleared', scope, commanded: true, settle: () => Promise.resolve() };
    },
  };
  await bed.run({ source });
  expect((await bed.failed()).map(({ documentId }) => documentId)).toEqual(['later']);
  expect((await bed.content()).ledger).toMatchObject([
    { documentId: 'gone', state: 'deleted', failedVersion: null },
    { documentId: 'later', failedVersion: version(9) },
    { documentId: 'never', state: 'deleted', failedVersion: null },
  ]);
});
