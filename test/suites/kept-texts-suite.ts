import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KeptTexts } from '../../src/contracts/kept-texts.js';
import type { Store } from '../../src/contracts/store.js';
import { patience, type OpenHarness, type StoreHarness } from './store-harness.js';
import { deleting, failing, kinds, layout, storing, touching, version } from './store-samples.js';

/** Where a store keeps what sources gave: what is kept of which document, and for how long. */
export function keptTextsSuite(name: string, openHarness: OpenHarness): void {
  describe(`kept texts: ${name}`, { timeout: patience }, () => {
    let harness: StoreHarness;
    let store: Store;
    let texts: KeptTexts;
    let count = 0;
    const opened: Store[] = [];

    const open = async () => {
      const handle = await harness.open(`texts-${count}`);
      opened.push(handle);
      return handle;
    };
    beforeAll(async () => {
      harness = await openHarness();
    }, patience);
    afterAll(() => harness?.close(), patience);
    beforeEach(async () => {
      count += 1;
      store = await open();
      await store.prepare(layout);
      texts = store.texts!;
    }, patience);
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((handle) => handle.close()));
    }, patience);

    const given = (text: string) => ({ given: { text, metadata: { from: text, n: [1.5, null] } } });
    const kept = async (...ids: string[]) =>
      Object.fromEntries([...(await texts.read(ids))].map(([id, { text }]) => [id, text]));

    it('are kept by every writer from when they are asked for, one that was opened before too', async () => {
      expect(await texts.keeping()).toBe('no');
      await store.sink.write([storing('a', 1, ['one'], given('first')), storing('b', 1, ['two'])]);
      expect(await kept('a', 'b')).toEqual({});
      await (await open()).texts!.begin();
      expect(await texts.keeping()).toBe('meanwhile');
      const writes = [storing('b', 2, ['two'], given('second')), storing('c', 1, ['three'], given('third'))];
      expect(kinds(await store.sink.write(writes))).toEqual(['done', 'done']);
      expect(await texts.missing()).toEqual({ documents: 1, first: 'a' });
      expect(kinds(await store.sink.write([touching('a', 2, ['one'], given('first'))]))).toEqual(['done']);
      expect(await texts.missing()).toEqual({ documents: 0, first: undefined });
      expect(await texts.read(['a', 'c', 'x'])).toEqual(
        new Map([
          ['a', given('first').given],
          ['c', given('third').given],
        ]),
      );
    });

    it('are those of the version that is stored: not of a stale or failed one, and of none that is deleted', async () => {
      await texts.begin();
      await store.sink.write([
        storing('a', 5, ['one'], given('fifth')),
        storing('b', 5, ['two'], given('b')),
      ]);
      expect(kinds(await store.sink.write([storing('a', 4, ['old'], given('fourth'))]))).toEqual(['stale']);
      await store.sink.write([failing('a', 6)]);
      expect(await kept('a', 'b')).toEqual({ a: 'fifth', b: 'b' });
      await store.sink.write([storing('a', 7, ['new'], given('seventh')), deleting('b', 6)]);
      expect(await kept('a', 'b')).toEqual({ a: 'seventh' });
      // Nobody knows what this one was made of.
      await store.sink.write([storing('a', 8, ['newer'])]);
      expect(await kept('a')).toEqual({});
    });

    it('follow a source whose change the chain does not show', async () => {
      await texts.begin();
      await store.sink.write([storing('a', 1, ['one'], given('plain'))]);
      expect(kinds(await store.sink.write([touching('a', 2, ['one'], given('plain'))]))).toEqual(['done']);
      expect(kinds(await store.sink.write([touching('a', 3, ['one'], given('other'))]))).toEqual(['done']);
      expect(await kept('a')).toEqual({ a: 'other' });
    });

    it('take from a source that is read again what stored documents lack, and nothing else', async () => {
      await store.sink.write([
        ...[storing('a', 1, ['one']), storing('b', 1, ['two']), storing('c', 1, ['three'])],
        ...[storing('d', 3, ['four']), storing('e', 1, ['five'], { source: 'other' })],
      ]);
      await texts.begin();
      await store.sink.write([storing('b', 2, ['new'], given('written')), deleting('c', 2)]);
      const offered = (documentId: string, at?: number) => ({
        documentId,
        version: at === undefined ? undefined : version(at),
        ...given(`read ${documentId}`).given,
      });
      const ids = ['a', 'b', 'c', 'e', 'unknown'];
      expect(await texts.offer('suite', [...ids.map((id) => offered(id)), offered('d', 2)])).toBe(1);
      expect(await kept(...ids, 'd')).toEqual({ a: 'read a', b: 'written' });
      expect(await texts.offer('suite', [offered('d', 3)])).toBe(1);
      expect(await texts.missing()).toEqual({ documents: 1, first: 'e' });
    });

    it('are kept until no generation is beside the active one, where they were asked for a filling', async () => {
      const generations = store.generations!;
      await store.sink.write([storing('a', 1, ['one'])]);
      const two = await generations.start(layout, { made: 'by a test' });
      await texts.begin();
      await store.sink.write([storing('a', 2, ['one'], given('second'))]);
      expect(await kept('a')).toEqual({ a: 'second' });
      // What is written beside keeps nothing: the text is there already.
      await generations.view(two).sink.write([storing('a', 2, ['cut', 'anew'], given('of nobody'))]);
      expect(await kept('a')).toEqual({ a: 'second' });
      await generations.drop(two);
      expect([await texts.keeping(), await kept('a')]).toEqual(['no', {}]);
      expect(kinds(await store.sink.write([storing('a', 3, ['two'], given('third'))]))).toEqual(['done']);
      expect(await kept('a')).toEqual({});
    });
  });
}
