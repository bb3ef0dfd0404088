import { expect, it } from 'vitest';
import { qdrantConfig } from '../../connectors/qdrant/config.js';
import { createPortStore } from '../../connectors/qdrant/port-store.js';
import type { Sink } from '../../src/contracts/sink.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { createDocument } from '../../src/elements/document.js';
import { collectTexts } from '../../src/runtime/generations/collect-texts.js';
import { readGiven } from '../../src/runtime/generations/read-given.js';
import { logOf } from '../promises/bed.js';
import { deleting, layout, storing, version } from '../suites/store-samples.js';
import { createEngine } from '../support/qdrant/engine.js';
import { createEnginePort } from '../support/qdrant/engine-port.js';
import { testContext } from '../support/test-context.js';
import { VirtualClock } from '../support/virtual-clock.js';

const { signal } = new AbortController();
const given = (text: string) => ({ given: { text, metadata: {} } });

async function prepared(keepText: boolean, cut?: () => boolean) {
  const port = createEnginePort(createEngine());
  const store = createPortStore(
    {
      ...port,
      insert: async (collection, ...rest) => {
        if (collection.endsWith('_texts') && cut?.()) throw new MillraceError('store_unavailable', 'cut');
        await port.insert(collection, ...rest);
      },
    },
    { ...qdrantConfig.parse({ url: 'http://double' }), keepText },
    testContext('given'),
  );
  await store.prepare(layout);
  return store;
}

it('a document that is deleted between the look at its entry and that at its text lacks nothing', async () => {
  const store = await prepared(true);
  await store.sink.write([
    ...[
      storing('a', 1, ['one'], given('A')),
      storing('b', 1, ['two'], given('B')),
      storing('c', 1, ['three']),
    ],
  ]);
  let deleted = false;
  const ledger: Sink['ledger'] = async (ids) => {
    const entries = await store.sink.ledger(ids);
    if (!deleted) await store.sink.write([deleting('b', 2)]);
    deleted = true;
    return entries;
  };
  const found = await readGiven({ ledger }, store.texts!, ['a', 'b', 'c', 'unknown'], signal);
  const states = found.map(({ entry, given: text }) => [entry.documentId, entry.state, text?.text]);
  expect(states.sort()).toEqual([
    ['a', 'stored', 'A'],
    ['b', 'deleted', undefined],
    ['c', 'stored', undefined],
  ]);
});

it('an outage of the store while a source is read for its texts is waited out', async () => {
  let cuts = 0;
  const store = await prepared(false, () => (cuts += 1) <= 2);
  await store.sink.write([storing('a', 1, ['one']), storing('b', 1, ['two'])]);
  await store.texts!.begin();
  const clock = new VirtualClock();
  const collecting = collectTexts({
    ...{ texts: store.texts!, clock, signal, maxItemBytes: 1e6 },
    state: { read: async () => undefined, change: async () => undefined } as never,
    source: {
      ...logOf(),
      name: 'suite',
      async *history() {
        yield createDocument({ id: 'a', text: 'A', version: version(1) });
        yield createDocument({ id: 'b', text: 'B', version: version(9) });
      },
    },
  });
  let taken: number | undefined;
  void collecting.then((count) => (taken = count));
  await expect.poll(() => (clock.advance(1_000), taken)).toBe(1);
  expect(cuts).toBe(3);
  expect([...(await store.texts!.read(['a', 'b']))].map(([id, { text }]) => [id, text])).toEqual([
    ['a', 'A'],
  ]);
});
