import { expect, it } from 'vitest';
import type { DocumentWrite } from '../../../src/contracts/sink.js';
import type { Store } from '../../../src/contracts/store.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import {
  deleting,
  failing,
  kinds,
  layout,
  layoutOf,
  storing,
  textsOf,
  touching,
} from '../../suites/store-samples.js';
import { filledEngine } from './filled-engine.js';
import { fates, mortalPort } from './mortal-port.js';
import { processesOver } from './processes-over.js';
import { takeOverAll } from './take-over-all.js';

const pipeline = 'kills';

const before: readonly DocumentWrite[] = ['a', 'b', 'c', 'd'].map((id) =>
  storing(id, 1, [`${id} one`, 'common']),
);
const changes: readonly DocumentWrite[] = [
  storing('a', 2, ['a two', 'common']),
  deleting('b', 2),
  failing('c', 2),
  touching('d', 2, ['d one', 'common']),
  storing('e', 2, ['e two']),
];

/** Of a store whose active generation has taken in `changes`. */
async function expectNewest(store: Store): Promise<void> {
  expect((await textsOf(store, 'a')).map((text) => text)).toEqual(['a two', 'common']);
  expect(await textsOf(store, 'b')).toEqual([]);
  expect(await textsOf(store, 'c')).toEqual(['c one', 'common']);
  expect(await textsOf(store, 'e')).toEqual(['e two']);
  const ledger = await store.sink.ledger(['a', 'b', 'c', 'd', 'e']);
  expect(['a', 'b', 'd', 'e'].map((id) => ledger.get(id)?.version)).toEqual(
    Array.from({ length: 4 }, () => changes[0]!.version),
  );
  expect(ledger.get('c')?.failedVersion).toBe(changes[0]!.version);
}

/** The change of generations to its end, whatever somebody else began of it. */
async function change(store: Store): Promise<void> {
  const generations = store.generations!;
  for (let tries = 0; (await generations.active()) !== 2; tries += 1) {
    expect(tries).toBeLessThan(10);
    const begun = (await generations.list()).find(({ state }) => state === 'filling');
    const number = begun?.number ?? (await generations.start(layoutOf(4), { made: 'by a test' }));
    await generations.enlist(number);
    await takeOverAll(generations, number);
    await generations.pause(10_000);
    await takeOverAll(generations, number);
    if (!(await generations.switchTo(number))) await generations.resume();
    if ((await generations.active()) === number) return;
  }
}

it.each(fates)(
  'a writer that is killed at any of its requests, which is %s, leaves nothing behind that a switch forgets',
  async (fate) => {
    const from = await filledEngine(pipeline, before);
    const { open } = processesOver(from, pipeline);
    const number = await open().generations!.start(layoutOf(4), { made: 'by a test' });
    await open().generations!.enlist(number);
    await takeOverAll(open().generations!, number);
    let nth = 1;
    for (let over = false; !over; nth += 1) {
      const one = processesOver(from.copy(), pipeline);
      const { mortal, killed, late } = mortalPort(one.port, nth, fate);
      await one
        .open(mortal)
        .sink.write(changes)
        .catch((error: unknown) => {
          if (!killed()) throw error;
        });
      over = !killed();
      // What was not acknowledged is delivered again: to the old generation, or to the new one once it is active.
      if (nth % 2 === 0) await one.open().sink.write(changes);
      await change(one.open());
      await late().catch(() => undefined);
      const next = one.open();
      await next.prepare(layoutOf(4));
      if (!over && nth % 2 === 1) await next.sink.write(changes);
      await expectNewest(next);
    }
    expect(nth).toBeGreaterThan(6);
  },
);

it.each(fates)(
  'a change of generations that is killed at any of its requests, which is %s, is made by the next process',
  async (fate) => {
    const from = await filledEngine(pipeline, before);
    let nth = 1;
    for (let over = false; !over; nth += 1) {
      const one = processesOver(from.copy(), pipeline);
      const writer = one.open();
      await writer.prepare(layout);
      await writer.sink.write(changes.slice(0, 1));
      const { mortal, killed, late } = mortalPort(one.port, nth, fate);
      await change(one.open(mortal)).catch((error: unknown) => {
        if (!killed()) throw error;
      });
      over = !killed();
      // Whatever is left of a pause, writers go on, or hear that they are over.
      const results = await writer.sink.write(changes).catch((error: unknown) => error);
      if (results instanceof MillraceError) expect(results.code).toBe('generation_moved');
      else expect(kinds(results as never)).toEqual(['stale', 'done', 'done', 'done', 'done']);
      const other = one.open();
      await change(other);
      await late().catch(() => undefined);
      const active = (await other.generations!.active())!;
      expect(active).toBeGreaterThan(1);
      const next = one.open();
      await next.prepare(layoutOf(4));
      await next.sink.write(changes);
      await expectNewest(next);
      const { chunks, alias } = { chunks: `millrace_kills_g${active}`, alias: 'millrace_kills_now' };
      expect(await one.port.aliases(chunks)).toEqual([alias]);
      for (const { number, state } of await next.generations!.others())
        if (state !== 'filling') await next.generations!.drop(number);
      await expectNewest(next);
    }
    expect(nth).toBeGreaterThan(15);
  },
);
