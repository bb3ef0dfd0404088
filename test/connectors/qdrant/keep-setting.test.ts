import { beforeEach, expect, it } from 'vitest';
import { qdrantConfig, type QdrantConfig } from '../../../connectors/qdrant/config.js';
import { createPortStore } from '../../../connectors/qdrant/port-store.js';
import type { QdrantPort } from '../../../connectors/qdrant/port.js';
import type { Store } from '../../../src/contracts/store.js';
import { createEngine } from '../../support/qdrant/engine.js';
import { createEnginePort } from '../../support/qdrant/engine-port.js';
import { codeOf, kinds, layout, layoutOf, storing, touching } from '../../suites/store-samples.js';
import { passingTime } from './passing-time.js';

let port: QdrantPort;
let open: (config?: Partial<QdrantConfig>, over?: QdrantPort) => Promise<Store>;
beforeEach(() => {
  port = createEnginePort(createEngine());
  const context = { pipeline: 'kept', baseFolder: '/nonexistent', clock: passingTime(), notify: () => {} };
  open = async (config = {}, over = port) => {
    const store = createPortStore(
      over,
      { ...qdrantConfig.parse({ url: 'http://double' }), ...config },
      context,
    );
    await store.prepare(layout);
    return store;
  };
});

const given = (text: string) => ({ given: { text, metadata: { of: text } } });
const points = () => port.count('millrace_kept_texts', {});

it('texts are removed where the configuration says so, and kept anew from when it says that', async () => {
  const store = await open({ keepText: true });
  await store.sink.write([storing('a', 1, ['one'], given('A')), storing('b', 1, ['two'], given('B'))]);
  expect([await store.texts!.keeping(), await points()]).toEqual(['always', 2]);
  expect(await (await open()).texts!.keeping()).toBe('always');

  const without = await open({ keepText: false });
  expect([await without.texts!.keeping(), await points()]).toEqual(['no', 0]);
  expect(await without.texts!.read(['a', 'b'])).toEqual(new Map());

  const again = await open({ keepText: true });
  expect(await again.texts!.missing()).toEqual({ documents: 2, first: 'a' });
  await again.sink.write([touching('a', 2, ['one'], given('A'))]);
  expect(await again.texts!.missing()).toEqual({ documents: 1, first: 'b' });
  expect(await again.texts!.read(['a', 'b'])).toEqual(new Map([['a', given('A').given]]));
  const offered = ['a', 'b'].map((id) => ({
    documentId: id,
    version: undefined,
    ...given(`read ${id}`).given,
  }));
  expect(await again.texts!.offer('suite', offered)).toBe(1);
  expect((await again.texts!.read(['b'])).get('b')?.text).toBe('read b');
});

it('texts stay as long as a generation beside the active one may need them, whatever the configuration says', async () => {
  const store = await open({ keepText: true });
  await store.sink.write([storing('a', 1, ['one'], given('A'))]);
  const generations = store.generations!;
  const two = await generations.start(layoutOf(4), {});
  const without = await open({ keepText: false });
  expect([await without.texts!.keeping(), await points()]).toEqual(['meanwhile', 1]);
  await generations.drop(two);
  expect([await without.texts!.keeping(), await points()]).toEqual(['no', 0]);
});

it('a write that began before texts were kept brings its own after its commit', async () => {
  let [reached, go] = [() => {}, () => {}];
  const [held, released] = [new Promise<void>((r) => (reached = r)), new Promise<void>((r) => (go = r))];
  const writer = await open(undefined, {
    ...port,
    replace: async (collection, ...rest) => {
      if (collection.endsWith('_ledger')) {
        reached();
        await released;
      }
      await port.replace(collection, ...rest);
    },
  });
  const write = writer.sink.write([storing('a', 1, ['one'], given('A'))]);
  await held;
  const other = await open();
  await other.texts!.begin();
  go();
  expect(kinds(await write)).toEqual(['done']);
  expect(await other.texts!.read(['a'])).toEqual(new Map([['a', given('A').given]]));
});

it('a write that lost takes its text back', async () => {
  const other = await open({ keepText: true });
  let overtaken = false;
  const writer = await open(undefined, {
    ...port,
    replace: async (collection, ...rest) => {
      if (collection.endsWith('_ledger') && !overtaken) {
        overtaken = true;
        await other.sink.write([storing('a', 3, ['three'], given('C'))]);
      }
      await port.replace(collection, ...rest);
    },
  });
  expect(kinds(await writer.sink.write([storing('a', 2, ['two'], given('B'))]))).toEqual(['stale']);
  expect(await points()).toBe(1);
  expect(await other.texts!.read(['a'])).toEqual(new Map([['a', given('C').given]]));
});

it('a touch with the text that is kept sends none', async () => {
  const store = await open({ keepText: true });
  await store.sink.write([storing('a', 1, ['one'], given('A'))]);
  const [before] = (await port.scroll('millrace_kept_texts', { filter: {}, limit: 9, payload: ['write'] }))
    .points;
  await store.sink.write([touching('a', 2, ['one'], given('A'))]);
  await store.sink.write([storing('a', 3, ['one', 'more'], given('A'))]);
  const { points } = await port.scroll('millrace_kept_texts', { filter: {}, limit: 9, payload: ['write'] });
  expect(points).toEqual([before]);
});

it('refuses alone a document whose text no request can hold, and leaves nothing of it', async () => {
  const store = await open({ keepText: true, maxRequestMb: 0.01 });
  const results = await store.sink.write([
    storing('a', 1, ['one'], given('x'.repeat(10_000))),
    storing('b', 1, ['two'], given('B')),
  ]);
  expect(kinds(results)).toEqual(['refused', 'done']);
  expect(codeOf(results[0])).toBe('store_refused');
  const { error } = results[0] as { readonly error: Error };
  expect(error).toMatchObject({
    message: expect.stringMatching(/"a" cannot be stored: its kept text takes 0\.0 MB/) as string,
    hint: expect.stringContaining('keepText') as string,
  });
  expect([await points(), await port.count('millrace_kept', {})]).toEqual([1, 1]);
});

it('generations that hold another text of a document, or none, differ in it', async () => {
  const store = await open({ keepText: true });
  await store.sink.write([storing('a', 1, ['one'], given('A')), storing('b', 1, ['two'], given('B'))]);
  const generations = store.generations!;
  const two = await generations.start(layoutOf(4), {});
  await generations.enlist(two);
  const { sink } = generations.view(two);
  await sink.write([storing('a', 1, ['cut'], given('A')), storing('b', 1, ['anew'])]);
  await generations.settle(two, await generations.claim(two, { after: '', limit: 9, leaseMs: 1 }));
  expect(await generations.reconcile(two, undefined, 'versions')).toBe(1);
  // The version that it has, but now with what it was made of.
  expect(kinds(await sink.write([storing('b', 1, ['anew'], given('B'))]))).toEqual(['done']);
  await generations.settle(two, await generations.claim(two, { after: '', limit: 9, leaseMs: 1 }));
  expect(await generations.reconcile(two, undefined, 'versions')).toBe(0);
});
