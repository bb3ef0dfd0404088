import assert from 'node:assert/strict';
import { chunkPointsOf } from './chunk-points-of.js';
import { checkKept, givenAt, keptPointsOf } from './kept-points-of.js';
import { deleting, failing, storing, touching } from '../../../suites/store-samples.js';
import type { DocumentWrite, GivenContent } from '../../../../src/contracts/sink.js';
import { explore } from './explore.js';
import type { Scenario, Wish, World } from './world.js';

/** Two writers of one document. */
export interface Race {
  readonly name: string;
  readonly before: readonly DocumentWrite[];
  readonly writers: readonly Wish[];
  /** The texts that are there in the end, sorted. */
  readonly newest: readonly string[];
  /** The version whose text is kept then, where texts are. */
  readonly kept: number | undefined;
}

const fresh = (position: number, ...of: string[]): Wish => ({
  write: storing('a', position, of, givenAt(position)),
});
/** Writes no vector anew, unless what it keeps has gone. */
const kept = (position: number, ...of: string[]): Wish => ({
  write: storing('a', position, of, { kept: true, ...givenAt(position) }),
  otherwise: storing('a', position, of, givenAt(position)),
});
const touched = (position: number, ...of: string[]): Wish => ({
  write: touching('a', position, of, givenAt(position)),
  otherwise: storing('a', position, of, givenAt(position)),
});
const gone = (position: number): Wish => ({ write: deleting('a', position) });
const before = (...of: string[]): DocumentWrite[] => [storing('a', 1, of, givenAt(1))];

/** The second writer has the newest version. */
export const races: readonly Race[] = [
  {
    name: 'two versions of a new document',
    before: [],
    writers: [fresh(2, 'one', 'two'), fresh(3, 'two', 'three')],
    newest: ['three', 'two'],
    kept: 3,
  },
  {
    name: 'two versions that keep vectors of a third',
    before: before('zero', 'one', 'two'),
    writers: [kept(2, 'one'), kept(3, 'two', 'zero')],
    newest: ['two', 'zero'],
    kept: 3,
  },
  {
    name: 'a deletion after a version',
    before: before('zero', 'one'),
    writers: [fresh(2, 'one', 'two'), gone(3)],
    newest: [],
    kept: undefined,
  },
  {
    name: 'a version after a deletion',
    before: before('zero', 'one'),
    writers: [gone(2), fresh(3, 'one')],
    newest: ['one'],
    kept: 3,
  },
  {
    name: 'an unchanged version after a changed one',
    before: before('zero', 'one'),
    writers: [fresh(2, 'two'), touched(3, 'zero', 'one')],
    newest: ['one', 'zero'],
    kept: 3,
  },
  {
    name: 'a version after a failure',
    before: before('zero', 'one'),
    writers: [{ write: failing('a', 2) }, fresh(3, 'two')],
    newest: ['two'],
    kept: 3,
  },
  {
    name: 'the same version twice',
    before: before('zero'),
    writers: [fresh(2, 'one'), fresh(2, 'one')],
    newest: ['one'],
    kept: 2,
  },
];

/** Both writers in every order of their requests, with accidents at each of them. */
export function everyOrder(race: Race, most: Scenario['most'], keepText = false): ReturnType<typeof explore> {
  const versions = [...race.before, ...race.writers.map(({ write, otherwise }) => otherwise ?? write)].map(
    (write) => (write.kind === 'store' ? write.chunks.map(({ text }) => text) : []),
  );
  const nothing = race.before.length === 0 ? [[]] : [];
  return explore(
    { before: race.before, writers: race.writers.map((one) => [one]), keepText, most },
    {
      now: (world) => {
        const seen = chunkPointsOf(world, 'a').live;
        const whole = [...versions, ...nothing].some((texts) => texts.every((text) => seen.includes(text)));
        assert.ok(whole, `Less than any version is seen: ${seen.join()}`);
        // From its 'done' on the newest is all that anybody sees, whatever the other writer still does.
        if (world.results(1)?.[0]?.kind === 'done') assert.deepEqual(seen, race.newest);
        if (keepText) checkKept(world, 'a');
      },
      recovered: async (world) => {
        await exactly(world, 'a', race.newest);
        if (keepText)
          await exactlyKept(world, 'a', race.kept === undefined ? undefined : givenAt(race.kept).given);
      },
    },
  );
}

/** These texts are seen, and nothing else is there once the store is tuned. */
export async function exactly(world: World, documentId: string, texts: readonly string[]): Promise<void> {
  assert.deepEqual(chunkPointsOf(world, documentId).live, texts);
  await world.store.tune();
  assert.deepEqual(chunkPointsOf(world, documentId), { live: texts, unseen: [] });
}

/** This is kept, and nothing else is there once the store is tuned. */
export async function exactlyKept(
  world: World,
  documentId: string,
  given: GivenContent | undefined,
): Promise<void> {
  const kept = given === undefined ? [] : [given];
  const live = kept.map(({ text }) => text);
  assert.deepEqual([...(await world.store.texts!.read([documentId])).values()], kept);
  assert.deepEqual(keptPointsOf(world, documentId).live, live);
  await world.store.tune();
  assert.deepEqual(keptPointsOf(world, documentId), { live, unseen: [] });
}
