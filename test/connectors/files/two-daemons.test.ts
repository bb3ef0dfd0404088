import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/contracts/source.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { openSource } from './bed.js';
import { laterClock } from './watching.js';

interface Daemon {
  look(): Promise<void>;
  /** Writes the oldest delivery that is under way. @returns how many are left */
  writeOne(): Promise<number>;
  /** Ends it; what is under way is never written. */
  kill(): Promise<void>;
}

interface Place {
  readonly root: string;
  readonly ledger: LedgerDouble;
  /** Called before and after versions are given. */
  interrupt(): Promise<void>;
}

async function daemon({ root, ledger, interrupt }: Place, now: () => number): Promise<Daemon> {
  const clock = laterClock();
  const { source } = await openSource(root, {}, clock);
  const stop = new AbortController();
  const underway: Delivery[] = [];
  const given = ledger.context({ now }, { watch: true, allowMassDeletion: true, signal: stop.signal });
  const run = (async () => {
    const context = {
      ...given,
      async observe(ids: readonly string[]) {
        await interrupt();
        const versions = await given.observe(ids);
        await interrupt();
        return versions;
      },
    };
    for await (const delivery of source.deliveries(context)) underway.push(delivery);
  })();
  const rest = (): Promise<void> => Promise.race([clock.asleep(), run]);
  await rest();
  return {
    async look() {
      clock.advance(1000);
      await rest();
    },
    async writeOne() {
      const delivery = underway.shift();
      if (delivery !== undefined) await ledger.apply(delivery);
      return underway.length;
    },
    async kill() {
      stop.abort(new Error('killed by the test'));
      await run;
    },
  };
}

const names = ['a.md', 'b.md', 'c.jsonl'];
const change = fc.record({
  do: fc.constantFrom('write' as const, 'remove' as const),
  file: fc.nat({ max: 2 }),
});
const act = fc.record({
  do: fc.constantFrom('look' as const, 'settle' as const),
  daemon: fc.nat({ max: 1 }),
});
const steps = fc.array(fc.oneof(change, { arbitrary: act, weight: 2 }), { minLength: 5, maxLength: 50 });
/** What happens to the files while a daemon is given its versions; mostly nothing. */
const interrupts = fc.array(fc.option(change, { freq: 2 }), { maxLength: 30 });

type Change = { readonly do: 'write' | 'remove'; readonly file: number };

interface Story {
  readonly steps: readonly (
    { do: 'write' | 'remove'; file: number } | { do: 'look' | 'settle'; daemon: number }
  )[];
  readonly interrupts: readonly (Change | null)[];
  /** How far the clocks of the daemons are off, in ms. */
  readonly skews: readonly [number, number];
  /** The first daemon is killed after the steps. */
  readonly killed: boolean;
}

type Texts = Record<string, string>;

/** @returns what the folder holds, what the store holds once the daemons rest, and once another has begun anew */
async function play(story: Story): Promise<{ folder: Texts; store: Texts; anew: Texts }> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-'));
  const files = new Map<string, string>();
  let size = 1;
  const alter = async (what: 'write' | 'remove', name: string): Promise<void> => {
    const lines = name.endsWith('.jsonl');
    const id = lines ? `${name}/1` : name;
    if (what === 'remove') {
      files.delete(id);
      return rm(join(root, name), { force: true });
    }
    // Another size each time: two writes in one tick of the file system's clock would look alike.
    const text = 'x'.repeat(size++);
    files.set(id, text);
    await writeFile(join(root, name), lines ? `{"id":1,"text":"${text}"}\n` : text);
  };
  try {
    for (const name of names) await alter('write', name);
    const ledger = new LedgerDouble();
    const queue = [...story.interrupts];
    const interrupt = async (): Promise<void> => {
      const next = queue.shift();
      if (next) await alter(next.do, names[next.file]!);
    };
    // One time that never stands still, so that no two instants are the same.
    let time = 1_000_000_000;
    const place = { root, ledger, interrupt };
    const daemons = [
      await daemon(place, () => ++time + story.skews[0]),
      await daemon(place, () => ++time + story.skews[1]),
    ];
    for (const step of story.steps) {
      if ('file' in step) await alter(step.do, names[step.file]!);
      else if (step.do === 'look') await daemons[step.daemon]!.look();
      else await daemons[step.daemon]!.writeOne();
    }
    if (story.killed) await daemons.shift()!.kill();
    queue.length = 0;
    const settle = async (): Promise<Texts> => {
      for (let round = 0; round < 10; round++)
        for (const one of daemons) {
          await one.look();
          while ((await one.writeOne()) > 0);
        }
      return ledger.texts();
    };
    const store = await settle();
    daemons.push(await daemon(place, () => ++time));
    const anew = await settle();
    for (const one of daemons) await one.kill();
    return { folder: Object.fromEntries([...files].sort()), store, anew };
  } finally {
    await rm(root, { recursive: true });
  }
}

test('two daemons over one folder end at what it holds, however far their clocks are off', async () => {
  const skews = fc.tuple(fc.constantFrom(0, -3_000_000, 3_000_000), fc.constantFrom(0, 60_000));
  await fc.assert(
    fc.asyncProperty(fc.record({ steps, interrupts, skews, killed: fc.constant(false) }), async (story) => {
      const { folder, store, anew } = await play(story);
      expect(store).toEqual(folder);
      expect(anew).toEqual(folder);
    }),
    { numRuns: 50 },
  );
}, 60_000);

test('a file of lines that comes and goes between the looks of a daemon whose clock is behind leaves nothing', async () => {
  const act = (what: 'look' | 'settle', daemon: number) => ({ do: what, daemon }) as const;
  const { folder, store } = await play({
    steps: [
      ...[
        act('settle', 0),
        act('settle', 0),
        act('settle', 1),
        act('look', 0),
        act('look', 0),
        act('settle', 1),
      ],
      ...[act('look', 0), act('look', 0), { do: 'write', file: 0 }, { do: 'remove', file: 2 } as const],
      ...[act('look', 0), act('look', 0)],
    ] as Story['steps'],
    interrupts: [
      ...[null, null, null, null],
      ...[
        { do: 'remove', file: 2 } as const,
        { do: 'remove', file: 0 } as const,
        { do: 'write', file: 2 } as const,
      ],
    ],
    skews: [-3_000_000, 0],
    killed: false,
  });
  expect(store).toEqual(folder);
});

test('what a killed daemon wrote never stands over what is newer', async () => {
  const skews = fc.constant([0, 0] as const);
  await fc.assert(
    fc.asyncProperty(fc.record({ steps, interrupts, skews, killed: fc.constant(true) }), async (story) => {
      const { folder, store, anew } = await play(story);
      // A file that only the killed one knew, and that is gone since, is missed by the next that begins.
      expect(store).toMatchObject(folder);
      expect(anew).toEqual(folder);
    }),
    { numRuns: 50 },
  );
}, 60_000);
