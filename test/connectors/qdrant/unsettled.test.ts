import { beforeEach, expect, it } from 'vitest';
import type { QdrantPort } from '../../../connectors/qdrant/port.js';
import type { Generations } from '../../../src/contracts/generations.js';
import type { Store } from '../../../src/contracts/store.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { createEngine } from '../../support/qdrant/engine.js';
import { layout, layoutOf, storing, textsOf } from '../../suites/store-samples.js';
import { processesOver } from './processes-over.js';
import { takeOverAll } from './take-over-all.js';

let open: (over?: QdrantPort) => Store;
let generations: Generations;
let two: number;

/** A generation that has taken over all, and then a writer that is killed once the ledger says what it wrote. */
beforeEach(async () => {
  const one = processesOver(createEngine(), 'open');
  const { port } = one;
  open = one.open;
  const store = open();
  await store.prepare(layout);
  await store.sink.write([storing('a', 1, ['one'])]);
  generations = store.generations!;
  two = await generations.start(layoutOf(4), {});
  await generations.enlist(two);
  await takeOverAll(generations, two);
  const mortal: QdrantPort = {
    ...port,
    replace: async (collection, ...rest) => {
      await port.replace(collection, ...rest);
      if (collection.endsWith('_ledger')) throw new MillraceError('store_unavailable', 'killed');
    },
  };
  await expect(open(mortal).sink.write([storing('a', 2, ['two'])])).rejects.toThrow('killed');
  expect(await generations.behind(two)).toMatchObject({ documents: 0 });
});

it('a switch looks for what killed writers have not told of, and is not made over it', async () => {
  await generations.pause(10_000);
  expect(await generations.switchTo(two)).toBe(false);
  expect(await generations.behind(two)).toMatchObject({ documents: 1 });
  await takeOverAll(generations, two);
  expect(await generations.switchTo(two)).toBe(true);
  expect(await textsOf(open(), 'a')).toEqual(['two']);
});

it('whoever fills a generation and finds such a change in the active one tells of it', async () => {
  await generations.view(1).sink.ledger(['a']);
  expect(await generations.behind(two)).toMatchObject({ documents: 1 });
});
