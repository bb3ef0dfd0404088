import { MillraceError } from '../../src/errors/millrace-error.js';
import { noteChanged, type Changed } from './behind.js';
import type { WriteRole } from './create-sink.js';
import { keptSince } from './head-changes.js';
import { followersOf, type Head, type HeadStore } from './head.js';
import type { Place, Places } from './places.js';
import type { QdrantPort } from './port.js';
import type { Tell } from './settle.js';
import type { WriterLease } from './writer-lease.js';

export interface WriteRoleParts {
  readonly port: QdrantPort;
  readonly heads: HeadStore;
  readonly places: Pick<Places, 'names'>;
  readonly lease: WriterLease;
  readonly pipeline: string;
}

type Look = (signal?: AbortSignal) => Promise<Head | undefined>;

/** Tells the followers of a generation. @param look gives the head, as new as whoever tells must know it; default: as it is */
export function teller(
  { port, heads, places }: Omit<WriteRoleParts, 'lease' | 'pipeline'>,
  { generation }: Place,
  look: Look = heads.read,
): Tell {
  async function tellOne(follower: number, changed: readonly Changed[], signal?: AbortSignal): Promise<void> {
    try {
      await noteChanged(port, places.names(follower).behind, changed, signal);
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'store_layout') throw error;
      // It may have been dropped since we looked.
      if (followersOf(await heads.read(signal), generation).includes(follower)) throw error;
    }
  }

  return async (changed, signal) => {
    for (const follower of followersOf(await look(signal), generation))
      await tellOne(follower, changed, signal);
  };
}

/** As the generation that is read, whose followers are told; under a lease. */
export function activeRole(parts: WriteRoleParts): WriteRole {
  const { lease } = parts;
  return {
    tell: (place) => teller(parts, place),
    during: (place, signal, work) =>
      lease.during(place.generation, signal, (check) =>
        work({
          look: async (cancel) => {
            const head = await lease.hold(cancel);
            check();
            return { followed: followersOf(head, place.generation).length > 0, keptSince: keptSince(head) };
          },
          tell: teller(parts, place, lease.hold),
        }),
      ),
  };
}

/** As one that is being filled beside it: its own changes are told to nobody, but the active one is looked at by its role too. */
export function followerRole(parts: Omit<WriteRoleParts, 'lease'>): WriteRole {
  const { heads, pipeline } = parts;
  return {
    tell: (place) => teller(parts, place),
    during: async ({ generation }, signal, work) => {
      const head = await heads.read(signal);
      if (head !== undefined && followersOf(head, head.active).includes(generation))
        return work({
          look: async () => ({ followed: false, keptSince: keptSince(head) }),
          tell: tellNobody,
        });
      throw new MillraceError(
        'generation_moved',
        `Generation ${generation} of pipeline ${JSON.stringify(pipeline)} is not beside the active one any more.`,
        { hint: 'Start again with the configuration that the active generation was filled by.' },
      );
    },
  };
}

const tellNobody: Tell = async () => {};
