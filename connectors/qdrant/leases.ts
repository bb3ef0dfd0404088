import type { Clock } from '../../src/contracts/context.js';
import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';

/** How long a lease holds from when it was put, by the clock of its process. */
export const leaseMs = 3_000;
/** A lease that did not change for so long, by the clock of whoever looks, has run out: no two clocks are compared. */
const goneMs = leaseMs + 1_000;
const pollMs = 50;
const perScroll = 1_000;

export interface LeaseWatch {
  /** Resolves once each lease shows this epoch or has run out, or when `until` says so. */
  allShow(epoch: number, until?: () => boolean, signal?: AbortSignal): Promise<void>;
}

/** Looks at the leases of all writers, and remembers since when each stands still. */
export function createLeaseWatch(port: QdrantPort, { artifacts }: CollectionNames, clock: Clock): LeaseWatch {
  let standing = new Map<string, { readonly beat: string; readonly since: number }>();

  /** Those below an epoch that may still hold. What has run out is removed. */
  async function below(epoch: number, signal?: AbortSignal): Promise<number> {
    const filter = { must_not: [{ is_empty: { key: 'beat' } }] };
    const { points } = await port.scroll(
      artifacts,
      { filter, limit: perScroll, payload: ['epoch', 'beat'] },
      signal,
    );
    const now = clock.now();
    const seen = points.map(({ id, payload }) => {
      const beat = payload['beat'] as string;
      const known = standing.get(id);
      return { id, beat, epoch: payload['epoch'] as number, since: known?.beat === beat ? known.since : now };
    });
    standing = new Map(seen.map(({ id, beat, since }) => [id, { beat, since }]));
    const gone = seen.filter(({ since }) => now - since >= goneMs);
    if (gone.length > 0) {
      const beats = gone.map(({ beat }) => beat);
      const filter = {
        must: [{ has_id: gone.map(({ id }) => id) }, { key: 'beat', match: { any: beats } }],
      };
      await port.update(artifacts, [{ delete: { filter } }], signal);
    }
    return seen.filter((lease) => lease.epoch < epoch && now - lease.since < goneMs).length;
  }

  return {
    allShow: async (epoch, until = () => false, signal) => {
      while ((await below(epoch, signal)) > 0 && !until()) await clock.sleep(pollMs, signal);
    },
  };
}
