import { expect, test } from 'vitest';
import type { Enrichment } from '../../src/contracts/document-transform.js';
import { createDocument } from '../../src/elements/document.js';
import { createEnrich } from '../../src/transforms/enrich.js';
import { version } from '../promises/bed.js';
import { VirtualClock } from '../support/virtual-clock.js';

const document = createDocument({ id: 'a', text: 'ants', metadata: { by: 'me' }, version: version(1) });
const { signal } = new AbortController();

/** The document after a step whose function gives this for it. */
function enriched(given: unknown) {
  const step = createEnrich({
    ...{ name: 'team', batchSize: 10, concurrency: 1, signal, clock: new VirtualClock() },
    enrich: async () => [given as Enrichment],
    report: () => undefined,
  });
  return step.apply(document, signal, () => undefined);
}

test.each([
  [undefined, 'no enrichment'],
  ['sports', 'no enrichment'],
  [[{ metadata: {} }], 'no enrichment'],
  [{ text: 5 }, 'a text that is of the type number'],
  [{ metadata: 'sports' }, 'metadata that is of the type string'],
  [{ metadata: ['sports'] }, 'metadata that is a list'],
])('an enrichment of %j fails its document and says what is wrong with it', async (given, said) => {
  await expect(enriched(given)).rejects.toMatchObject({
    code: 'transform_failed',
    message: expect.stringContaining(`The step "team" gave ${said}`) as string,
  });
});

test('what an enrichment leaves out, or gives as null, stays as it was', async () => {
  expect(await enriched({ text: null, metadata: { team: 'x' } })).toMatchObject({
    text: 'ants',
    metadata: { by: 'me', team: 'x' },
  });
  expect(await enriched({ text: 'bees', metadata: null })).toMatchObject({
    text: 'bees',
    metadata: { by: 'me' },
  });
});
