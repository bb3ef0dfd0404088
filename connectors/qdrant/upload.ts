import { MillraceError } from '../../src/errors/millrace-error.js';
import { chunkPoints, type KeptVectors, type SizedPoint } from './chunk-points.js';
import type { CollectionNames } from './names.js';
import { pack } from './pack.js';
import type { QdrantPort } from './port.js';
import type { Plan } from './write.js';

/** What one request may hold. */
export interface RequestBounds {
  readonly items: number;
  readonly bytes: number;
}

interface Piece extends SizedPoint {
  readonly plan: Plan;
}

/**
 * Puts in the chunks of writes, unseen. Each request is sent once: one whose effect is unknown may yet take effect, so the
 * names of these writes must not be used again.
 * @returns the writes that the server does not take, with its reason
 * @throws MillraceError `store_unavailable` when the effect of any request is unknown
 */
export async function upload(
  port: QdrantPort,
  names: CollectionNames,
  bounds: RequestBounds,
  plans: readonly Plan[],
  kept: KeptVectors,
  signal?: AbortSignal,
): Promise<ReadonlyMap<Plan, MillraceError>> {
  const faults = new Map<Plan, MillraceError>();
  const pieces = plans.flatMap((plan): Piece[] => {
    const { write, id, writeId, seq } = plan;
    if (write.kind !== 'store') return [];
    const points = chunkPoints(write, { doc: id, writeId, seq }, kept).map((point) => ({ ...point, plan }));
    const tooLarge = points.find(({ bytes }) => bytes > bounds.bytes);
    if (tooLarge === undefined) return points;
    faults.set(plan, overBound(tooLarge, bounds));
    return [];
  });
  // All end before any error goes on: nothing of this call is under way when it has failed.
  const ends = await Promise.allSettled(pack(pieces, ({ bytes }) => bytes, bounds).map(send));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return faults;

  /** Halved, by documents first, until the point that the server refuses is alone; its document is sent no further. */
  async function send(pieces: readonly Piece[]): Promise<void> {
    const some = pieces.filter(({ plan }) => !faults.has(plan));
    if (some.length === 0) return;
    try {
      await port.insert(
        names.chunks,
        some.map(({ point }) => point),
        signal,
      );
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'store_refused') throw error;
      if (some.length === 1) faults.set(some[0]!.plan, error);
      else for (const half of halves(some)) await send(half);
    }
  }
}

function halves(some: readonly Piece[]): (readonly Piece[])[] {
  const concerned = [...new Set(some.map(({ plan }) => plan))];
  const first = new Set(concerned.slice(0, concerned.length >> 1));
  if (first.size > 0)
    return [some.filter(({ plan }) => first.has(plan)), some.filter(({ plan }) => !first.has(plan))];
  return [some.slice(0, some.length >> 1), some.slice(some.length >> 1)];
}

function overBound({ point, bytes }: SizedPoint, bounds: RequestBounds): MillraceError {
  const [size, most] = [bytes, bounds.bytes].map((number) => `${(number / 1e6).toFixed(1)} MB`);
  return new MillraceError(
    'store_refused',
    `its chunk ${point.payload['ordinal']} takes ${size}, a request holds ${most}`,
    {
      hint: "Keep large values out of the metadata, or raise `maxRequestMb` and the server's `max_request_size_mb`.",
    },
  );
}
