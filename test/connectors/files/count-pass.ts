import { LedgerDouble } from '../../support/ledger-double.js';
import { openSource } from './bed.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { versionOf } from '../../../src/elements/version.js';

// A process of its own, to measure it: reads a folder once and prints how many elements there were and the peak memory.
let elements = 0;
const start = performance.now();
const { source } = await openSource(process.argv[2]!, {}, new VirtualClock());
const context = {
  ...new LedgerDouble().context({ now: () => 0 }),
  signal: new AbortController().signal,
  watch: false,
  maxItemBytes: 32 << 20,
  allowMassDeletion: false,
  observe: (ids: readonly string[]) => Promise.resolve(ids.map(() => versionOf(0, 1n))),
  passStart: () => Promise.resolve(versionOf(0, 1n)),
};
for await (const delivery of source.deliveries(context)) {
  if (delivery.kind !== 'elements') continue;
  elements += delivery.elements.length;
  await delivery.settle(delivery.elements.map(() => ({ kind: 'unchanged' })));
}
const seconds = (performance.now() - start) / 1000;
console.log(JSON.stringify({ elements, seconds, peak: process.resourceUsage().maxRSS * 1024 }));
