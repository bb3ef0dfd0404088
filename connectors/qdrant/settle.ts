import type { Changed } from './behind.js';
import type { LedgerRecord } from './ledger.js';
import type { CollectionNames } from './names.js';
import type { PointUpdate, QdrantPort } from './port.js';

/** A committed write whose chunks readers shall see, and of which other generations shall know. */
export type Committed = Pick<LedgerRecord, 'id' | 'writeId' | 'seq' | 'rev' | 'text'> & {
  readonly documentId: string;
  readonly chunkCount: number;
};

/** Of a document the write whose points stay, among those that writes up to this number put there. */
type Standing = Pick<LedgerRecord, 'id' | 'writeId' | 'seq'>;

/** Tells the generations that follow this one of documents that it has changed. */
export type Tell = (changed: readonly Changed[], signal?: AbortSignal) => Promise<void>;

const perRequest = 500;

/**
 * Shows the chunks of committed writes, removes those that they replace, does the same with what their sources gave, and
 * tells of the change: the rest of a write, for whoever finds it undone. Safe at any time and any number of times: a
 * write's points are complete before it is committed, later writes have greater numbers, and what a later write replaced is
 * not there to be shown. A first write replaces nothing.
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
    const chunked = some.filter(({ chunkCount }) => chunkCount > 0);
    await change(port, names.chunks, [...showing(chunked), ...replacing(some.filter(isLater))], signal);
    // None where nothing of the document was ever kept.
    const texts = some.filter(({ text }) => text !== undefined).map(standingText);
    const brought = texts.filter(({ writeId }) => writeId !== undefined);
    await change(port, names.texts, [...showing(brought), ...replacing(texts.filter(isLater))], signal);
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

/** Removes the points of these documents that no write can show any more, a first one's rivals too. */
export async function removeReplaced(
  port: QdrantPort,
  collection: string,
  standing: readonly Standing[],
  signal?: AbortSignal,
): Promise<void> {
  for (let from = 0; from < standing.length; from += perRequest)
    await change(port, collection, replacing(standing.slice(from, from + perRequest)), signal);
}

/** Removes the points of writes that can never be committed. */
export async function discard(
  port: QdrantPort,
  collection: string,
  lost: readonly Pick<Standing, 'id' | 'writeId'>[],
  signal?: AbortSignal,
): Promise<void> {
  if (lost.length === 0) return;
  await port.update(collection, [{ delete: { filter: { must: [docs(lost), writes(lost)] } } }], signal);
}

/** The same of what is kept of a document. */
export function standingText({ id, seq, text }: Pick<Committed, 'id' | 'seq' | 'text'>): Standing {
  return { id, seq, writeId: text?.write };
}

function isLater({ seq }: Standing): boolean {
  return seq > 1;
}

async function change(
  port: QdrantPort,
  collection: string,
  updates: readonly PointUpdate[],
  signal?: AbortSignal,
): Promise<void> {
  if (updates.length > 0) await port.update(collection, updates, signal);
}

function showing(some: readonly Standing[]): PointUpdate[] {
  if (some.length === 0) return [];
  return [{ set_payload: { payload: { live: true }, filter: { must: [docs(some), writes(some)] } } }];
}

/** Up to the standing write, all but its own. */
function replacing(standing: readonly Standing[]): PointUpdate[] {
  return [...new Set(standing.map(({ seq }) => seq))].map((seq) => {
    const some = standing.filter((one) => one.seq === seq);
    return {
      delete: {
        filter: { must: [docs(some), { key: 'seq', range: { lte: seq } }], must_not: [writes(some)] },
      },
    };
  });
}

function docs(some: readonly Pick<Standing, 'id'>[]) {
  return any(
    'doc',
    some.map(({ id }) => id),
  );
}

function writes(some: readonly Pick<Standing, 'writeId'>[]) {
  return any(
    'write',
    some.flatMap(({ writeId }) => writeId ?? []),
  );
}

function any(key: string, values: readonly string[]) {
  return { key, match: { any: values } };
}
