import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/contracts/context.js';
import type { Generations } from '../../src/contracts/generations.js';
import type { StoreCount } from '../../src/contracts/store.js';
import { repairAlias } from './alias.js';
import { countBehind } from './behind.js';
import { firstHead, resumedHead, switchedHead } from './head-changes.js';
import { followersOf, type HeadStore } from './head.js';
import { prepareBehind } from './layout.js';
import type { Place, Places } from './places.js';
import type { QdrantPort } from './port.js';
import type { Tell } from './settle.js';
import { settleOpen } from './settle-open.js';

export interface GenerationSwitchParts {
  readonly port: QdrantPort;
  readonly heads: HeadStore;
  readonly places: Places;
  readonly clock: Clock;
  /** Tells the followers of a generation, as the head is then. */
  tell(place: Place): Tell;
  count(place: Place | undefined): Promise<StoreCount>;
  /** Every writer knows of this epoch, or does not write. */
  known(epoch: number, until?: () => boolean, signal?: AbortSignal): Promise<void>;
}

/** Makes another generation the active one, while the writers pause. */
export function createGenerationSwitch({
  port,
  heads,
  places,
  clock,
  tell,
  count,
  known,
}: GenerationSwitchParts): Pick<Generations, 'pause' | 'resume' | 'switchTo'> {
  /** Ours, and until when a switch can count on it. */
  let paused: { readonly id: string; readonly until: number } | undefined;

  /** Nothing is left to take over, and none of it was forgotten. Only while writers are paused. */
  async function whole(from: Place, to: Place): Promise<boolean> {
    await settleOpen(port, from.names, tell(from));
    if ((await countBehind({ port, names: to.names, clock })).documents > 0) return false;
    const [mine, theirs] = await Promise.all([count(from), count(to)]);
    return mine.documents === theirs.documents;
  }

  return {
    pause: async (ms, signal) => {
      const [id, until] = [randomUUID(), clock.now() + ms];
      const head = await heads.change(
        (found = firstHead(clock.now())) => ({ ...found, epoch: found.epoch + 1, pause: { id, ms } }),
        signal,
      );
      paused = { id, until };
      await known(head!.epoch, () => clock.now() >= until, signal);
    },
    resume: async () => {
      paused = undefined;
      await heads.change((head) => (head?.pause === undefined ? undefined : resumedHead(head)));
    },
    switchTo: async (to, signal) => {
      const head = await heads.read(signal);
      const from = await places.active(signal);
      if (head === undefined || from === undefined || from.generation === to) return from?.generation === to;
      const ours = paused;
      const still = () => ours !== undefined && clock.now() < ours.until;
      if (!still() || !followersOf(head, from.generation).includes(to)) return false;
      const next = await places.at(to, signal);
      if (next === undefined || !(await whole(from, next))) return false;
      await prepareBehind(port, from.names, clock);
      const switched = await heads.change((found) => {
        const may = found?.active === from.generation && found.pause?.id === ours?.id && still();
        if (!may || !followersOf(found, found.active).includes(to)) return undefined;
        return switchedHead(found, to, clock.now());
      }, signal);
      if (switched === undefined) return false;
      await repairAlias(port, heads, places, signal);
      return true;
    },
  };
}
