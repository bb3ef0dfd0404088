import { randomUUID } from 'node:crypto';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Payload, QdrantPort } from './port.js';

/** What every record carries that several writers change: a name for its present state, and those of a few before. */
export interface Revision {
  readonly rev: string;
  readonly past: readonly string[];
}

export interface Change {
  /** The point of the record. */
  readonly id: string;
  /** The state that was read; undefined where there was no record. */
  readonly base: Revision | undefined;
  readonly payload: Payload;
}

/** How many changes by others may come between ours and our look at what became of it. */
const remembered = 4;
const perRequest = 500;

/**
 * Changes each record if it still is what was read: compare and set. Qdrant compares each point with the filter and
 * says nothing of what it did, so the records are read back.
 * @returns for each change whether it took effect, and the revision that it gave the record
 * @throws MillraceError `store_unavailable` when a record shows neither our change nor another's: ours may yet come
 */
export async function compareAndSet(
  port: QdrantPort,
  collection: string,
  changes: readonly Change[],
  signal?: AbortSignal,
): Promise<readonly (Revision | undefined)[]> {
  const results: (Revision | undefined)[] = [];
  for (let from = 0; from < changes.length; from += perRequest)
    results.push(...(await setSome(port, collection, changes.slice(from, from + perRequest), signal)));
  return results;
}

async function setSome(
  port: QdrantPort,
  collection: string,
  changes: readonly Change[],
  signal?: AbortSignal,
): Promise<readonly (Revision | undefined)[]> {
  const revisions = changes.map(({ base }): Revision => ({
    rev: randomUUID(),
    past: base === undefined ? [] : [base.rev, ...base.past].slice(0, remembered),
  }));
  const points = changes.map(({ id, payload }, at) => ({
    id,
    vector: {},
    payload: { ...payload, ...revisions[at]! },
  }));
  // No two records ever share a revision, so one condition serves all; a record that is there and not named stays.
  const bases = changes.flatMap(({ base }) => (base === undefined ? [] : [base.rev]));
  await port.replace(collection, points, { must: [{ key: 'rev', match: { any: bases } }] }, signal);
  const ids = changes.map(({ id }) => id);
  const found = await port.retrieve(collection, ids, { payload: ['rev', 'past'] }, signal);
  const now = new Map(found.map(({ id, payload }) => [id, payload as unknown as Revision]));
  return changes.map(({ id, base }, at) => {
    const current = now.get(id);
    const { rev } = revisions[at]!;
    if (current !== undefined && (current.rev === rev || current.past.includes(rev))) return revisions[at];
    if (current !== undefined && current.rev !== base?.rev) return undefined;
    throw new MillraceError(
      'store_unavailable',
      `Qdrant completed a change of ${collection} that does not show yet.`,
    );
  });
}
