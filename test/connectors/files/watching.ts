import type { Notice } from '../../../src/contracts/context.js';
import type { Delivery, SourceContext } from '../../../src/contracts/source.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { foundIn, openSource } from './bed.js';

export interface Watching {
  readonly ledger: LedgerDouble;
  readonly notices: readonly Notice[];
  /**
   * Lets the source look around so many times. @returns what each look handed over by id, with `outcome: text` and, for
   * what a pass swept, `swept`
   */
  look(times?: number): Promise<Record<string, string>>;
  /** What the first pass handed over. */
  readonly first: Record<string, string>;
  stop(): Promise<void>;
}

/** Time well after that of the files, so that none of them counts as just written. */
export function laterClock(): VirtualClock {
  return new VirtualClock(Date.now() + 3_600_000);
}

/** Watches a folder, keeping a ledger equal to it. Time moves only when `look` moves it. */
export async function watch(
  root: string,
  parts: Partial<SourceContext> = {},
  { ledger = new LedgerDouble(), clock = laterClock() } = {},
): Promise<Watching> {
  const { source, notices } = await openSource(root, {}, clock);
  const stop = new AbortController();
  let seen: Record<string, string> = {};
  const take = async (delivery: Delivery): Promise<void> => {
    const outcomes = await ledger.apply(delivery);
    const found = delivery.kind === 'elements' ? Object.entries(foundIn(delivery.elements)) : [];
    for (const [at, outcome] of outcomes.entries()) {
      if (typeof outcome === 'string') seen[outcome] = 'swept';
      else seen[found[at]![0]] = `${outcome.kind}: ${found[at]![1]}`;
    }
  };
  const run = (async () => {
    const context = ledger.context(clock, { watch: true, signal: stop.signal, ...parts });
    for await (const delivery of source.deliveries(context)) await take(delivery);
  })();
  // The failure is seen by whoever waits for the next look.
  run.catch(() => undefined);
  const rest = (): Promise<void> => Promise.race([clock.asleep(), run]);
  await rest();
  const first = seen;
  return {
    ledger,
    notices,
    first,
    async look(times = 1) {
      seen = {};
      for (let time = 0; time < times; time++) {
        clock.advance(1000);
        await rest();
      }
      return seen;
    },
    async stop() {
      stop.abort(new Error('stopped by the test'));
      await run;
    },
  };
}
