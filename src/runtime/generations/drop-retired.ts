import type { Clock } from '../../contracts/context.js';
import type { Store } from '../../contracts/store.js';

/** Removes generations that were switched off longer ago than they are kept, and what a removal left behind. */
export async function dropRetired(
  { generations }: Store,
  keepMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  if (generations === undefined) return;
  for (const { number, state, since } of await generations.others(signal))
    if (state === 'leaving' || (state === 'retired' && since + keepMs < clock.now()))
      await generations.drop(number, signal);
}
