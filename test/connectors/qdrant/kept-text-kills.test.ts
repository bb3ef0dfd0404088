import { expect, it } from 'vitest';
import type { DocumentWrite, LedgerEntry, WriteResult } from '../../../src/contracts/sink.js';
import type { Store } from '../../../src/contracts/store.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { textHash } from '../../../src/elements/hash.js';
import {
  deleting,
  failing,
  layout,
  layoutOf,
  storing,
  textsOf,
  touching,
} from '../../suites/store-samples.js';
import { filledEngine } from './filled-engine.js';
import { fates, mortalPort } from './mortal-port.js';
import { processesOver } from './processes-over.js';

const pipeline = 'kept';

/** By the old chunker a document is one chunk, by the new one each of its words. */
const whole = (text: string) => [text];
const words = (text: string) => text.split(' ');
type Chunker = typeof whole;
const partsOf = (text: string, chunker: Chunker) => ({
  given: { text, metadata: { of: text } },
  contentHash: textHash(text),
  chainDigest: chunker === whole ? 'whole' : 'words',
});
const put = (id: string, position: number, text: string, chunker: Chunker): DocumentWrite =>
  storing(id, position, chunker(text), partsOf(text, chunker));

const before: readonly DocumentWrite[] = ['a', 'b', 'c', 'd'].map((id) =>
  storing(id, 1, [`${id} one`], { contentHash: textHash(`${id} one`), chainDigest: 'whole' }),
);
/** As a run of either chain writes them. */
const changes = (chunker: Chunker): readonly DocumentWrite[] => [
  put('a', 2, 'a two', chunker),
  deleting('b', 2),
  failing('c', 2),
  touching('d', 2, [], partsOf('d one', chunker)),
  put('e', 2, 'e two', chunker),
];
/** What the source holds once it has made them. */
const source = new Map([
  ['a', 'a two'],
  ['c', 'c one'],
  ['d', 'd one'],
  ['e', 'e two'],
]);

/** A generation of the new chunker to its end, from what the source holds, whatever somebody else began of it. */
async function change(store: Store): Promise<void> {
  const generations = store.generations!;
  for (let tries = 0; (await generations.active()) === 1; tries += 1) {
    expect(tries).toBeLessThan(10);
    await store.texts!.begin();
    const begun = (await generations.list()).find(({ state }) => state === 'filling');
    const number = begun?.number ?? (await generations.start(layoutOf(4), { made: 'by a test' }));
    await generations.enlist(number);
    const offered = [...source].map(([documentId, text]) => {
      return { documentId, version: undefined, ...partsOf(text, words).given };
    });
    await store.texts!.offer('suite', offered);
    await fill(store, number);
    await generations.reconcile(number, undefined, 'versions');
    await fill(store, number);
    await generations.pause(10_000);
    await fill(store, number);
    if (!(await generations.switchTo(number))) await generations.resume();
  }
}

/** As far as something is noted and what it is made of is kept. */
async function fill({ generations, texts }: Store, number: number): Promise<void> {
  const { sink } = generations!.view(number);
  for (let done = 1; done > 0;) {
    const claimed = await generations!.claim(number, { after: '', limit: 100, leaseMs: 1 });
    const ids = claimed.map(({ documentId }) => documentId);
    const entries = await generations!.view(1).sink.ledger(ids);
    const given = await texts!.read(ids);
    const taken = claimed.filter(
      ({ documentId: id }) => entries.get(id)?.state !== 'stored' || given.has(id),
    );
    for (const { documentId } of taken)
      for (const write of writesOf(entries.get(documentId), given.get(documentId)?.text))
        await sink.write([write]);
    await generations!.settle(number, taken);
    done = taken.length;
  }
}

function writesOf(entry: LedgerEntry | undefined, text: string | undefined): DocumentWrite[] {
  if (entry === undefined) return [];
  const { documentId, state, version, failedVersion } = entry;
  return [
    ...(state === 'stored' ? [{ ...put(documentId, 1, text!, words), version: version! }] : []),
    ...(state === 'deleted' ? [{ ...deleting(documentId, 1), version: version! }] : []),
    ...(failedVersion !== undefined ? [{ ...failing(documentId, 1), version: failedVersion }] : []),
  ];
}

async function written(store: Store, chunker: Chunker): Promise<readonly WriteResult[] | MillraceError> {
  return store.sink.write(changes(chunker)).catch((error: unknown) => error as MillraceError);
}

async function expectNewest(store: Store): Promise<void> {
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    const text = source.get(id);
    expect(await textsOf(store, id)).toEqual(text === undefined ? [] : words(text));
  }
  expect(await store.texts!.missing()).toEqual({ documents: 0, first: undefined });
  const kept = await store.texts!.read(['a', 'b', 'c', 'd', 'e']);
  expect([...kept].map(([id, { text }]) => [id, text]).sort()).toEqual([...source]);
}

it.each(fates)(
  'a change of chunks from the source that is killed at any of its requests, which is %s, is made by the next process',
  async (fate) => {
    const from = await filledEngine(pipeline, before);
    let nth = 1;
    for (let over = false; !over; nth += 1) {
      const one = processesOver(from.copy(), pipeline);
      const writer = one.open();
      await writer.prepare(layout);
      // Of what the source holds no more it cannot be read.
      await writer.sink.write([deleting('b', 2)]);
      const { mortal, killed, late } = mortalPort(one.port, nth, fate);
      await change(one.open(mortal)).catch((error: unknown) => {
        if (!killed()) throw error;
      });
      over = !killed();
      const results = await written(writer, whole);
      if (results instanceof MillraceError) expect(results.code).toBe('generation_moved');
      await change(one.open());
      await late().catch(() => undefined);
      const next = one.open();
      await next.prepare(layoutOf(4));
      // What was not acknowledged is delivered again.
      if (results instanceof MillraceError) await next.sink.write(changes(words));
      await next.tune();
      await expectNewest(next);
      const active = (await next.generations!.active())!;
      expect(await one.port.count(`millrace_kept_g${active}_texts`, {})).toBe(source.size);
      for (const { number, state } of await next.generations!.others())
        if (state !== 'filling') await next.generations!.drop(number);
      // A number that was taken and given up keeps them until somebody drops it.
      if (active > 2) continue;
      expect(await next.texts!.keeping()).toBe('no');
      expect(await one.port.count(`millrace_kept_g${active}_texts`, {})).toBe(0);
    }
    expect(nth).toBeGreaterThan(25);
  },
);

it.each(fates)(
  'a writer that is killed at any of its requests, which is %s, leaves no text that is of another version',
  async (fate) => {
    const from = await filledEngine(pipeline, before);
    await processesOver(from, pipeline).open().texts!.begin();
    let nth = 1;
    for (let over = false; !over; nth += 1) {
      const one = processesOver(from.copy(), pipeline);
      const { mortal, killed, late } = mortalPort(one.port, nth, fate);
      await one
        .open(mortal)
        .sink.write(changes(whole))
        .catch((error: unknown) => {
          if (!killed()) throw error;
        });
      over = !killed();
      const other = one.open();
      const kept = await other.texts!.read(['a', 'b', 'c', 'd', 'e']);
      for (const [id, { version, state }] of await other.sink.ledger(['a', 'b', 'c', 'd', 'e'])) {
        const brought = state === 'stored' && version === changes(whole)[0]!.version;
        expect(kept.get(id)?.text).toBe(brought ? source.get(id) : undefined);
      }
      await late();
      await other.sink.write(changes(whole));
      await other.sink.write([touching('c', 3, [], partsOf('c one', whole))]);
      await other.tune();
      expect([...(await other.texts!.read([...source.keys()]))].map(([id, { text }]) => [id, text])).toEqual([
        ...source,
      ]);
      expect(await one.port.count('millrace_kept_texts', {})).toBe(source.size);
    }
    expect(nth).toBeGreaterThan(6);
  },
);
