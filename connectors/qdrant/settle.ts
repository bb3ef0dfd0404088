import type { Changed } from './behind.js';
import type { LedgerRecord } from './ledger.js';
import type { CollectionNames } from './names.js';
import type { PointUpdate, QdrantPort } from './port.js';

/** A committed write whose chunks readers shall see, and of which other generations shall know. */
export type Committed = Pick<LedgerRecord, 'id' | 'writeId' | 'seq' | 'rev'> & {
  readonly documentId: string;
  readonly chunkCount: number;
};

/** Tells the generations that follow this one of documents that it has changed. */
export type Tell = (changed: readonly Changed[], signal?: AbortSignal) => Promise<void>;

const perRequest = 500;

/**
 * Shows the chunks of committed writes, removes those that they replace and tells of the change: the rest of a write, for
 * whoever finds it undone. Safe at any time and any number of times: a write's chunks are complete before it is committed,
 * later writes have greater numbers, and what a later write replaced is not there to be shown. A first write replaces nothing.
 */
export async function settle(
  port: QdrantPort,
  names: CollectionNames,
  committed: readonly Committed[],
  tell: Tell,
  signal?: AbortSignal,
): Promise<void> {
  for (let from = 0; from < committed.length; from += perRequest) {
    const some = committed.slice(from, from + perRequest);
    const updates = [...showing(some), ...replacing(some.filter(({ seq }) => seq > 1))];
    if (updates.length > 0) await port.update(names.chunks, updates, signal);
    await tell(some, signal);
    const filter = {
      must: [
        { has_id: some.map(({ id }) => id) },
        any(
          'rev',
          some.map(({ rev }) => rev),
        ),
      ],
    };
    await port.update(names.ledger, [{ set_payload: { payload: { settled: true }, filter } }], signal);
  }
}

/** Removes the chunks of these documents that no write can show any more, a first one's rivals too. */
export async function removeReplaced(
  port: QdrantPort,
  names: CollectionNames,
  committed: readonly Pick<Committed, 'id' | 'writeId' | 'seq'>[],
  signal?: AbortSignal,
): Promise<void> {
  for (let from = 0; from < committed.length; from += perRequest)
    await port.update(names.chunks, replacing(committed.slice(from, from + perRequest)), signal);
}

/** Removes the chunks of writes that can never be committed. */
export async function discard(
  port: QdrantPort,
  names: CollectionNames,
  lost: readonly Pick<Committed, 'id' | 'writeId'>[],
  signal?: AbortSignal,
): Promise<void> {
  if (lost.length === 0) return;
  await port.update(names.chunks, [{ delete: { filter: { must: [docs(lost), writes(lost)] } } }], signal);
}

function showing(committed: readonly Committed[]): PointUpdate[] {
  const some = committed.filter(({ chunkCount }) => chunkCount > 0);
  if (some.length === 0) return [];
  return [{ set_payload: { payload: { live: true }, filter: { must: [docs(some), writes(some)] } } }];
}

/** Up to the committed write, all but its own. */
function replacing(committed: readonly Pick<Committed, 'id' | 'writeId' | 'seq'>[]): PointUpdate[] {
  return [...new Set(committed.map(({ seq }) => seq))].map((seq) => {
    const some = committed.filter((one) => one.seq === seq);
    return {
      delete: {
        filter: { must: [docs(some), { key: 'seq', range: { lte: seq } }], must_not: [writes(some)] },
      },
    };
  });
}

function docs(some: readonly Pick<Committed, 'id'>[]) {
  return any(
    'doc',
    some.map(({ id }) => id),
  );
}

function writes(some: readonly Pick<Committed, 'writeId'>[]) {
  return any(
    'write',
    some.flatMap(({ writeId }) => writeId ?? []),
  );
}

function any(key: string, values: readonly string[]) {
  return { key, match: { any: values } };
}
