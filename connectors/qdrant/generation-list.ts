import type { Clock } from '../../src/contracts/context.js';
import type { Generation, Generations } from '../../src/contracts/generations.js';
import type { StoreCount } from '../../src/contracts/store.js';
import { countBehind } from './behind.js';
import { firstHead } from './head-changes.js';
import type { HeadGeneration, HeadStore } from './head.js';
import type { Place, Places } from './places.js';
import type { QdrantPort } from './port.js';

export interface GenerationListParts {
  readonly port: QdrantPort;
  readonly heads: HeadStore;
  readonly places: Places;
  readonly clock: Clock;
  count(place: Place | undefined): Promise<StoreCount>;
}

/** A generation that is being made for so long was given up. */
const madeWithinMs = 600_000;

/** What generations there are. */
export function createGenerationList({
  port,
  heads,
  places,
  clock,
  count,
}: GenerationListParts): Pick<Generations, 'others' | 'list'> {
  async function listed(signal?: AbortSignal): Promise<readonly HeadGeneration[]> {
    if ((await places.active(signal)) === undefined) return [];
    const head = (await heads.read(signal)) ?? firstHead(0);
    return head.generations.filter(({ state, since }) => state !== 'making' || abandoned(since));
  }

  const abandoned = (since: number) => since + madeWithinMs < clock.now();

  return {
    others: async (signal) =>
      (await listed(signal))
        .filter(({ state }) => state !== 'active')
        .map(({ number, state, since }) => ({ number, state: shownState(state), since })),
    list: async (signal) => {
      const found: Generation[] = [];
      for (const { number, state, since } of await listed(signal)) {
        const place = await places.at(number, signal);
        const follows = state === 'listing' || state === 'filling' || state === 'retired';
        const behind = follows
          ? await countBehind({ port, names: places.names(number), clock }, signal)
          : undefined;
        found.push({
          number,
          state: shownState(state),
          spaces: place?.spaces ?? [],
          count: await count(place),
          behind: behind?.documents ?? 0,
          since,
        });
      }
      return found;
    },
  };
}

/** What was begun is being filled, also before its documents are listed; what was given up while it was made is to go. */
function shownState(state: HeadGeneration['state']): Generation['state'] {
  switch (state) {
    case 'listing':
      return 'filling';
    case 'making':
      return 'leaving';
    case 'filling':
    case 'active':
    case 'retired':
    case 'leaving':
      return state;
    default:
      return state satisfies never;
  }
}
