import { expect, test } from 'vitest';
import type { Sink } from '../../src/contracts/sink.js';
import type { Store } from '../../src/contracts/store.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { deletion, document, logOf, outcomes, usePglite, type Faults } from '../promises/bed.js';

const openBed = usePglite();
const many = Array.from({ length: 150 }, (_, n) => document(`page-${n}`, 10, `page ${n}`));

function writing(change: (write: Sink['write']) => Sink['write']): Faults {
  return {
    store: (store: Store) => ({ ...store, sink: { ...store.sink, write: change(store.sink.write) } }),
  };
}

test('each of the many documents of a delivery comes to its own outcome', async () => {
  const bed = await openBed();
  const before = logOf([
    document('newer', 5, 'ants'),
    document('same', 5, 'bees'),
    document('changed', 5, 'cows'),
    document('gone', 5, 'deer'),
  ]);
  await bed.run({ source: before });
  const log = logOf([
    ...many,
    document('newer', 3, 'older ants'),
    document('same', 6, 'bees'),
    document('changed', 6, 'goats'),
    document('twice', 7, 'one'),
    document('twice', 8, 'two'),
    deletion('gone', 6),
    document('blank', 6, ' '),
  ]);
  const { outcomes: counts } = await bed.run({ source: log });
  expect(outcomes(log)).toEqual([
    ...many.map(() => 'stored'),
    ...['stale', 'unchanged', 'stored', 'stored', 'stored', 'deleted', 'stored'],
  ]);
  expect(counts).toMatchObject({ stored: many.length + 4, stale: 1, unchanged: 1, deleted: 1 });
  const { ledger } = await bed.content();
  expect(ledger.find(({ documentId }) => documentId === 'same')).toMatchObject({
    version: document('same', 6, '').version,
  });
  expect(await bed.texts('newer')).toEqual(['ants']);
  expect(await bed.texts('changed')).toEqual(['goats']);
  expect(await bed.texts('twice')).toEqual(['two']);
  expect(await bed.texts('page-149')).toEqual(['page 149']);
});

test('a document that the store refuses fails alone among its neighbours', async () => {
  const bed = await openBed();
  const log = logOf([document('a', 1, 'ants'), document('b', 1, 'bees'), document('c', 1, 'cows')]);
  const error = new MillraceError('item_malformed', 'Not this one.');
  await bed.run({
    source: log,
    faults: writing((write) => async (writes, signal) => {
      const refused = writes.map((one) => one.kind === 'store' && one.documentId === 'b');
      const kept = writes.filter((_, at) => !refused[at]);
      const results = [...(await write(kept, signal))];
      return refused.map((is) => (is ? { kind: 'refused', error } : results.shift()!));
    }),
  });
  expect(outcomes(log)).toEqual(['stored', 'failed', 'stored']);
  expect(await bed.failed()).toMatchObject([{ documentId: 'b', stage: 'store', route: '*' }]);
});

test('a document that another writer changed in between is looked at again; its neighbours are not', async () => {
  const bed = await openBed();
  const log = logOf([document('a', 1, 'ants'), document('b', 1, 'bees')]);
  const written: string[][] = [];
  await bed.run({
    source: log,
    faults: writing((write) => async (writes, signal) => {
      written.push(writes.map(({ documentId }) => documentId));
      if (written.length > 1) return write(writes, signal);
      return [...(await write(writes.slice(0, 1), signal)), { kind: 'moved' }];
    }),
  });
  expect(outcomes(log)).toEqual(['stored', 'stored']);
  expect(written).toEqual([['a', 'b'], ['b']]);
  expect(await bed.texts('b')).toEqual(['bees']);
});

test('the next version of a document does not wait for the neighbours of the one before', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([document('slow', 1, 'snail')]) });
  const log = logOf(
    [document('quick', 1, 'hare'), document('slow', 2, 'tortoise')],
    [document('quick', 2, 'cheetah')],
  );
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let asked = 0;
  const running = bed.run({
    source: log,
    faults: {
      store: (store) => ({
        ...store,
        sink: {
          ...store.sink,
          heldChunks: async (...args) => {
            asked += 1;
            // The slow document's: it alone has chunks when it is first asked for.
            if (asked === 1) await opened;
            return store.sink.heldChunks(...args);
          },
        },
      }),
    },
  });
  await expect.poll(() => log.settled.size, { timeout: 20_000 }).toBe(1);
  expect(log.settled.has(1)).toBe(true);
  open();
  await running;
  expect(outcomes(log)).toEqual(['stored', 'stored', 'stored']);
  expect(await bed.texts('quick')).toEqual(['cheetah']);
});
