import type { Clock } from '../../src/contracts/context.js';
import { firstHead, keepingHead, keptMeanwhileHead } from './head-changes.js';
import type { Head, HeadStore } from './head.js';
import { prepareTexts } from './layout.js';
import type { Places } from './places.js';
import type { QdrantPort } from './port.js';
import { sweepTexts } from './sweep-texts.js';

export interface KeepSettingParts {
  readonly port: QdrantPort;
  readonly heads: HeadStore;
  readonly places: Places;
  readonly clock: Clock;
  /** Every writer knows of this epoch, or does not write. */
  known(epoch: number, signal?: AbortSignal): Promise<void>;
}

/** What sources give is kept, in all generations, once every writer knows. */
export async function startKeeping(
  { port, heads, places, clock, known }: KeepSettingParts,
  mode: 'meanwhile' | 'always',
  signal?: AbortSignal,
): Promise<void> {
  const made = new Set<number>();
  for (;;) {
    // Nobody may find it said and a collection missing.
    for (const number of staying((await heads.read(signal)) ?? firstHead(clock.now())))
      if (!made.has(number)) {
        await prepareTexts(port, places.names(number), clock);
        made.add(number);
      }
    let seen: Head | undefined;
    const changed = await heads.change((head = firstHead(clock.now())) => {
      seen = staying(head).every((number) => made.has(number)) ? head : undefined;
      return seen && keepingHead(seen, mode);
    }, signal);
    const keeps = (changed ?? seen)?.keeps;
    if (keeps === undefined) continue;
    await known(keeps.since, signal);
    return;
  }
}

function staying({ generations }: Head): readonly number[] {
  return generations.filter(({ state }) => state !== 'leaving').map(({ number }) => number);
}

/** They are kept no longer than a generation needs it, and what nothing needs is removed. */
export async function stopKeeping(parts: KeepSettingParts, signal?: AbortSignal): Promise<void> {
  const changed = await parts.heads.change((head) => head && keptMeanwhileHead(head), signal);
  if (changed === undefined) return;
  await parts.known(changed.epoch, signal);
  await sweepAllTexts(parts, signal);
}

/** Removes in every generation what counts no more. */
export async function sweepAllTexts(
  { port, heads, places }: Pick<KeepSettingParts, 'port' | 'heads' | 'places'>,
  signal?: AbortSignal,
): Promise<void> {
  const head = await heads.read(signal);
  for (const { number } of head?.generations ?? [])
    await sweepTexts(port, places.names(number), head, signal);
}
