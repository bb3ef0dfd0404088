import type { Redis } from 'ioredis';
import type { FailedFacts } from '../../src/elements/matches-failed.js';
import { compareIds, type EntryId } from './entry-id.js';

/** What the hash says of one failing document. */
export interface FailedIndexEntry extends FailedFacts {
  readonly entry: EntryId;
  readonly lastAt: string;
}

/**
 * The failing documents of a pipeline, in the order of their last failures. Each that is there throughout is named once,
 * whatever is put or discarded meanwhile.
 */
export async function readFailedIndex(client: Redis, key: string): Promise<readonly FailedIndexEntry[]> {
  const found = new Map<string, FailedIndexEntry>();
  let cursor = '0';
  do {
    const [next, pairs] = await client.hscan(key, cursor, 'COUNT', 1_000);
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const [entry, , , , lastAt, stage, code] = pairs[at + 1]!.split(' ') as string[];
      const documentId = pairs[at]!;
      found.set(documentId, { documentId, entry, lastAt, stage, code } as FailedIndexEntry);
    }
    cursor = next;
  } while (cursor !== '0');
  return [...found.values()].sort((a, b) => compareIds(a.entry, b.entry));
}
