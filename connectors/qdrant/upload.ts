import { MillraceError } from '../../src/errors/millrace-error.js';
import { chunkPoints, type KeptVectors, type SizedPoint } from './chunk-points.js';
import { pack } from './pack.js';
import type { QdrantPort } from './port.js';
import { textPointOf } from './text-point.js';
import { bringsText, type Plan } from './plan.js';

/** What one request may hold. */
export interface RequestBounds {
  readonly items: number;
  readonly bytes: number;
}

/** A point of a write, and how to mend that it is too large. */
export interface Piece extends SizedPoint {
  readonly plan: Plan;
  readonly name: string;
  readonly hint: string;
}

const raise = "raise `maxRequestMb` and the server's `max_request_size_mb`.";

/** The chunks of writes, unseen. */
export function chunkPieces(plans: readonly Plan[], kept: KeptVectors): Piece[] {
  return plans.flatMap((plan): Piece[] => {
    const { write, id, writeId, seq } = plan;
    if (write.kind !== 'store') return [];
    const hint = `Keep large values out of the metadata, or ${raise}`;
    return chunkPoints(write, { doc: id, writeId, seq }, kept).map((sized, at) => {
      return { ...sized, plan, name: `its chunk ${write.chunks[at]!.ordinal}`, hint };
    });
  });
}

/** What the sources gave of the documents of which it is to be kept anew. */
export function textPieces(plans: readonly Plan[]): Piece[] {
  return plans.flatMap((plan): Piece[] => {
    const { write, id, writeId, seq, text } = plan;
    if (!('given' in write) || write.given === undefined || !bringsText(plan)) return [];
    const sized = textPointOf(write.given, { doc: id, writeId, seq, since: text!.since });
    return [{ ...sized, plan, name: 'its kept text', hint: `Do without \`keepText\`, or ${raise}` }];
  });
}

/**
 * Puts in points of writes. Each request is sent once: one whose effect is unknown may yet take effect, so the names of
 * these writes must not be used again.
 * @returns the writes that the server does not take, with its reason
 * @throws MillraceError `store_unavailable` when the effect of any request is unknown
 */
export async function upload(
  port: QdrantPort,
  collection: string,
  bounds: RequestBounds,
  pieces: readonly Piece[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<Plan, MillraceError>> {
  const faults = new Map<Plan, MillraceError>();
  for (const piece of pieces)
    if (piece.bytes > bounds.bytes && !faults.has(piece.plan))
      faults.set(piece.plan, overBound(piece, bounds));
  const sound = pieces.filter(({ plan }) => !faults.has(plan));
  // All end before any error goes on: nothing of this call is under way when it has failed.
  const ends = await Promise.allSettled(pack(sound, ({ bytes }) => bytes, bounds).map(send));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return faults;

  /** Halved, by documents first, until the point that the server refuses is alone; its document is sent no further. */
  async function send(pieces: readonly Piece[]): Promise<void> {
    const some = pieces.filter(({ plan }) => !faults.has(plan));
    if (some.length === 0) return;
    try {
      await port.insert(
        collection,
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

function overBound({ name, hint, bytes }: Piece, bounds: RequestBounds): MillraceError {
  const [size, most] = [bytes, bounds.bytes].map((number) => `${(number / 1e6).toFixed(1)} MB`);
  return new MillraceError('store_refused', `${name} takes ${size}, a request holds ${most}`, { hint });
}
