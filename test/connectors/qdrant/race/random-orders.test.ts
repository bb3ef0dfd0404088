import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'vitest';
import type { DocumentWrite } from '../../../../src/contracts/sink.js';
import { fenceModel } from '../../../suites/fence-model.js';
import { deleting, failing, storing } from '../../../suites/store-samples.js';
import { chunkPointsOf } from './chunk-points-of.js';
import { follow } from './explore.js';
import { checkKept, givenAt } from './kept-points-of.js';
import { exactly, exactlyKept } from './races.js';

const documents = ['a', 'b'];

/** A version of each document by each writer; a version says what it holds, so that order alone decides. */
const anyRound = fc
  .array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })), { minLength: 2, maxLength: 4 })
  .map((calls) =>
    calls.map((positions) => positions.map((position, at) => versionOf(documents[at]!, position + 2))),
  );

function versionOf(id: string, position: number): DocumentWrite {
  switch (position % 4) {
    case 0:
      return deleting(id, position);
    case 1:
      return failing(id, position);
    default:
      return storing(
        id,
        position,
        [`v${position}`, 'common'].slice(0, (position % 3) + 1),
        givenAt(position),
      );
  }
}

it(
  'ends at the newest of each document in any order of any writers, whatever happens to their requests',
  { timeout: 60_000 },
  async () => {
    const steps = fc.array(fc.nat({ max: 999 }), { minLength: 20, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(
        anyRound,
        fc.boolean(),
        fc.boolean(),
        steps,
        async (calls, known, keepText, choices) => {
          const before = known ? documents.map((id) => storing(id, 1, ['zero', 'common'], givenAt(1))) : [];
          const model = fenceModel();
          const inOrder = [...before, ...calls.flat()].sort((a, b) => (a.version < b.version ? -1 : 1));
          for (const write of inOrder) model.write(write);
          await follow(
            {
              before,
              writers: calls.map((writes) => writes.map((write) => ({ write }))),
              keepText,
              most: { kill: 2, lose: 3, double: 3 },
            },
            {
              now: (world) => {
                if (keepText) for (const id of documents) checkKept(world, id);
                if (known && !inOrder.some(({ kind }) => kind === 'delete'))
                  for (const id of documents) assert.ok(chunkPointsOf(world, id).live.length > 0);
              },
              recovered: async (world) => {
                for (const id of documents) {
                  const entry = (await world.store.sink.ledger([id])).get(id);
                  const newest = inOrder.findLast(({ documentId }) => documentId === id)!;
                  // Which good version stands below a failed one depends on which came first.
                  if (newest.kind === 'fail') assert.equal(entry?.failedVersion, newest.version);
                  else {
                    await exactly(world, id, [...model.texts(id)].sort());
                    assert.deepEqual(entry, model.entry(id));
                    const kept = newest.kind === 'store' ? newest.given : undefined;
                    if (keepText) await exactlyKept(world, id, kept);
                  }
                }
              },
            },
            choices,
          );
        },
      ),
      { numRuns: 400 },
    );
  },
);
