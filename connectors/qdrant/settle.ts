import type { LedgerRecord } from './ledger.js';
import type { CollectionNames } from './names.js';
import type { PointUpdate, QdrantPort } from './port.js';

/** A committed write whose chunks readers shall see. */
export type Committed = Pick<LedgerRecord, 'id' | 'writeId' | 'seq' | 'rev'> & {
  readonly chunkCount: number;
};

const perRequest = 500;

/**
 * Shows the chunks of committed writes and removes all that came before them: the rest of a write, for whoever finds it
 * undone. Safe at any time and any number of times: a write's chunks are complete before it is committed, later writes
 * have greater numbers, and what a later write replaced is not there to be shown.
 */
export async function settle(
  port: QdrantPort,
  names: CollectionNames,
  committed: readonly Committed[],
  signal?: AbortSignal,
): Promise<void> {
  for (let from = 0; from < committed.length; from += perRequest)
    await settleSome(port, names, committed.slice(from, from + perRequest), signal);
}

async function settleSome(
  port: QdrantPort,
  names: CollectionNames,
  committed: readonly Committed[],
  signal?: AbortSignal,
): Promise<void> {
  const showing = committed.filter(({ chunkCount }) => chunkCount > 0);
  const show: PointUpdate[] =
    showing.length === 0
      ? []
      : [{ set_payload: { payload: { live: true }, filter: { must: [docs(showing), writes(showing)] } } }];
  const remove = [...new Set(committed.map(({ seq }) => seq))].map((seq): PointUpdate => {
    const some = committed.filter((one) => one.seq === seq);
    return {
      delete: {
        filter: { must: [docs(some), { key: 'seq', range: { lte: seq } }], must_not: [writes(some)] },
      },
    };
  });
  await port.update(names.chunks, [...show, ...remove], signal);
  const ids = committed.map(({ id }) => id);
  const revs = committed.map(({ rev }) => rev);
  const filter = { must: [{ has_id: ids }, { key: 'rev', match: { any: revs } }] };
  await port.update(names.ledger, [{ set_payload: { payload: { settled: true }, filter } }], signal);
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

function docs(some: readonly Pick<Committed, 'id'>[]) {
  return { key: 'doc', match: { any: some.map(({ id }) => id) } };
}

function writes(some: readonly Pick<Committed, 'writeId'>[]) {
  return { key: 'write', match: { any: some.flatMap(({ writeId }) => writeId ?? []) } };
}
