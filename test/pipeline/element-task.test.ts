import { expect, test } from 'vitest';
import type { FailedRecord } from '../../src/contracts/failed-store.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { document, logOf, outcomes, usePglite } from '../promises/bed.js';

const openBed = usePglite();

const failing = {
  chain: [
    {
      enrich: {
        name: 'never',
        batch: async () => {
          throw new MillraceError('transform_failed', 'It never works.', { cause: new Error('The reason.') });
        },
      },
    },
    { chunk: { markdown: {} } },
    { embed: { static: { model: 'bundled' } } },
  ],
};

test('a record of a failure holds all that a person and a replay need', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([document('a', 7, 'ants')]), input: failing });
  const [record] = await bed.failed();
  expect(record).toMatchObject({
    source: 'log',
    documentId: 'a',
    element: { kind: 'document', text: 'ants', metadata: {} },
    stage: 'enrich',
    error: { code: 'transform_failed', message: 'It never works.', causes: ['The reason.'] },
    attempts: 1,
  } satisfies Partial<Omit<FailedRecord, 'version'>>);
  // No model had a part in it.
  expect(record).not.toHaveProperty('model');
  expect((await bed.content()).ledger).toMatchObject([
    { documentId: 'a', state: 'absent', failedVersion: record!.version, version: null },
  ]);
});

test('the ledger is marked before the record is put', async () => {
  const bed = await openBed();
  const marked: (string | null)[] = [];
  const log = logOf([document('a', 1, 'ants')]);
  await bed.run({
    source: log,
    input: failing,
    faults: {
      failed: (store) => ({
        ...store,
        put: async (records) => {
          marked.push(...(await bed.content()).ledger.map(({ failedVersion }) => failedVersion));
          await store.put(records);
        },
      }),
    },
  });
  expect(outcomes(log)).toEqual(['failed']);
  expect(marked).toEqual([(await bed.failed())[0]!.version]);
});
