import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/contracts/source.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { laterClock } from './watching.js';
import { openSource } from './bed.js';

interface Daemon {
  readonly clock: VirtualClock;
  /** Handed over, not yet written. */
  readonly underway: Delivery[];
  look(): Promise<void>;
  writeOne(): Promise<number>;
  stop(): Promise<void>;
}

async function daemon(root: string, ledger: LedgerDouble, skew: number): Promise<Daemon> {
  const clock = new VirtualClock(laterClock().now() + skew);
  const { source } = await openSource(root, {}, clock);
  const stop = new AbortController();
  const underway: Delivery[] = [];
  const run = (async () => {
    const context = ledger.context(clock, { watch: true, allowMassDeletion: true, signal: stop.signal });
    for await (const delivery of source.deliveries(context)) underway.push(delivery);
  })();
  const rest = (): Promise<void> => Promise.race([clock.asleep(), run]);
  await rest();
  return {
    clock,
    underway,
    async look() {
      clock.advance(1000);
      await rest();
    },
    async writeOne() {
      const delivery = underway.shift();
      if (delivery !== undefined) await ledger.apply(delivery);
      return underway.length;
    },
    async stop() {
      stop.abort(new Error('stopped by the test'));
      await run;
    },
  };
}

const step = fc.oneof(
  fc.record({ do: fc.constant('write' as const), file: fc.nat({ max: 2 }) }),
  fc.record({ do: fc.constant('remove' as const), file: fc.nat({ max: 2 }) }),
  fc.record({ do: fc.constantFrom('look' as const, 'settle' as const), daemon: fc.nat({ max: 1 }) }),
);

test('two daemons over one folder end at what it holds, whatever their clocks and their speed', async () => {
  const skews = fc.tuple(fc.constantFrom(0, -3_000_000, 3_000_000), fc.constantFrom(0, 60_000));
  await fc.assert(
    fc.asyncProperty(skews, fc.array(step, { minLength: 5, maxLength: 40 }), async (apart, steps) => {
      const root = await mkdtemp(join(tmpdir(), 'millrace-'));
      const files = new Map<string, string>();
      let size = 1;
      const write = async (name: string): Promise<void> => {
        // Another size each time: two writes in one tick of the file system's clock would look alike.
        const text = 'x'.repeat(size++);
        files.set(name.endsWith('.jsonl') ? `${name}/1` : name, text);
        await writeFile(join(root, name), name.endsWith('.jsonl') ? `{"id":1,"text":"${text}"}\n` : text);
      };
      const names = ['a.md', 'b.md', 'c.jsonl'];
      try {
        for (const name of names) await write(name);
        const ledger = new LedgerDouble();
        const daemons = [await daemon(root, ledger, apart[0]), await daemon(root, ledger, apart[1])];
        for (const one of steps) {
          if (one.do === 'write') await write(names[one.file]!);
          else if (one.do === 'remove') {
            await rm(join(root, names[one.file]!), { force: true });
            files.delete(names[one.file]!.replace('.jsonl', '.jsonl/1'));
          } else if (one.do === 'look') await daemons[one.daemon]!.look();
          else await daemons[one.daemon]!.writeOne();
        }
        for (let round = 0; round < 10; round++)
          for (const one of daemons) {
            await one.look();
            while ((await one.writeOne()) > 0);
          }
        expect(ledger.texts()).toEqual(Object.fromEntries([...files].sort()));
        for (const one of daemons) await one.stop();
      } finally {
        await rm(root, { recursive: true });
      }
    }),
    { numRuns: 150 },
  );
});
