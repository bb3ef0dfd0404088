import { randomUUID } from 'node:crypto';
import type { BehindDocument, ClaimOptions } from '../../src/contracts/generations.js';
import type { Clock } from '../../src/contracts/context.js';
import { documentKey, type CollectionNames } from './names.js';
import type { Point, PointCondition, PointRecord, QdrantPort } from './port.js';

/** A document by its point in the ledger, which is also that of the note. */
export interface Changed {
  readonly id: string;
  readonly documentId: string;
}

const perRequest = 1_000;
const never = { must: [{ key: 'mark', match: { any: [] } }] };

function notes(documents: readonly Changed[]): Point[] {
  return documents.map(({ id, documentId }) => ({
    id,
    vector: {},
    payload: { document_id: documentId, mark: randomUUID(), until: 0 },
  }));
}

/** Notes that a generation is behind in documents. A note that is there gets another mark and belongs to nobody again. */
export async function noteChanged(
  port: QdrantPort,
  behind: string,
  documents: readonly Changed[],
  signal?: AbortSignal,
): Promise<void> {
  for (let from = 0; from < documents.length; from += perRequest)
    await port.replace(behind, notes(documents.slice(from, from + perRequest)), {}, signal);
}

/** As `noteChanged`, but a note that is there stays as it is. @returns how many there were not */
export async function noteUnlessNoted(
  port: QdrantPort,
  behind: string,
  documents: readonly Changed[],
  signal?: AbortSignal,
): Promise<number> {
  let fresh = 0;
  for (let from = 0; from < documents.length; from += perRequest) {
    const some = documents.slice(from, from + perRequest);
    const ids = some.map(({ id }) => id);
    const known = new Set((await port.retrieve(behind, ids, { payload: [] }, signal)).map(({ id }) => id));
    const lacking = some.filter(({ id }) => !known.has(id));
    if (lacking.length > 0) await port.replace(behind, notes(lacking), never, signal);
    fresh += lacking.length;
  }
  return fresh;
}

export interface BehindParts {
  readonly port: QdrantPort;
  readonly names: CollectionNames;
  /** The ledger of the active generation. */
  readonly ledger: string;
  readonly pipeline: string;
  readonly clock: Clock;
}

/** @see Generations.claim. In the order of the points; what others claim at the same time is passed over. */
export async function claimBehind(
  parts: BehindParts,
  { after, limit, leaseMs }: ClaimOptions,
  signal?: AbortSignal,
): Promise<readonly BehindDocument[]> {
  const { port, names, ledger, pipeline, clock } = parts;
  const now = clock.now();
  const last = after === '' ? undefined : documentKey(pipeline, after);
  const free = { key: 'until', range: { lt: now } };
  const claimed: PointRecord[] = [];
  for (let offset = last; claimed.length < limit;) {
    const request = {
      filter: { must: [free] },
      limit: limit + 1,
      payload: ['mark'],
      ...(offset !== undefined && { offset }),
    };
    const { points, next } = await port.scroll(names.behind, request, signal);
    const wanted = points.filter(({ id }) => id !== last).slice(0, limit - claimed.length);
    if (wanted.length > 0) claimed.push(...(await claimSome(parts, wanted, free, now + leaseMs, signal)));
    if (next === undefined) break;
    offset = next;
  }
  const ids = claimed.map(({ id }) => id);
  const records = await port.retrieve(ledger, ids, { payload: ['chunk_count'] }, signal);
  const chunks = new Map(records.map(({ id, payload }) => [id, payload['chunk_count'] as number]));
  return claimed.map(({ id, payload }) => ({
    documentId: payload['document_id'] as string,
    mark: payload['mark'] as string,
    chunks: chunks.get(id) ?? 0,
  }));
}

/** A mark is given once, so each is claimed as it was read or not at all. @returns those that were, in their order */
async function claimSome(
  { port, names: { behind } }: BehindParts,
  wanted: readonly PointRecord[],
  free: PointCondition,
  until: number,
  signal?: AbortSignal,
): Promise<readonly PointRecord[]> {
  const claim = randomUUID();
  const ids = wanted.map(({ id }) => id);
  const filter = { must: [{ has_id: ids }, markedAs(wanted.map(({ payload }) => payload['mark'])), free] };
  await port.update(behind, [{ set_payload: { payload: { until, claim }, filter } }], signal);
  const fields = { payload: ['document_id', 'mark', 'claim'] };
  const found = await port.retrieve(behind, ids, fields, signal);
  return found.filter(({ payload }) => payload['claim'] === claim).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** @see Generations.behind */
export async function countBehind(
  { port, names: { behind }, clock }: Pick<BehindParts, 'port' | 'names' | 'clock'>,
  signal?: AbortSignal,
): Promise<{ readonly documents: number; readonly claimed: number }> {
  const [documents, claimed] = await Promise.all([
    port.count(behind, {}, signal),
    port.count(behind, { must: [{ key: 'until', range: { gte: clock.now() } }] }, signal),
  ]);
  return { documents, claimed };
}

/** @see Generations.settle */
export async function settleBehind(
  { port, names: { behind }, pipeline }: Pick<BehindParts, 'port' | 'names' | 'pipeline'>,
  documents: readonly BehindDocument[],
  signal?: AbortSignal,
): Promise<void> {
  if (documents.length === 0) return;
  const ids = documents.map(({ documentId }) => documentKey(pipeline, documentId));
  const filter = { must: [{ has_id: ids }, markedAs(documents.map(({ mark }) => mark))] };
  await port.update(behind, [{ delete: { filter } }], signal);
}

function markedAs(marks: readonly unknown[]) {
  return { key: 'mark', match: { any: marks as readonly string[] } };
}
