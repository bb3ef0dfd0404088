import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { readLedger } from './read-ledger.js';
import { removeReplaced, standingText, type Tell } from './settle.js';

const perScroll = 1000;

/**
 * Removes what killed writers left: chunks, or kept texts, that nobody sees and that no write can show any more, since a
 * later one of their document was committed. Those of writes under way stay.
 */
export async function sweepUnseen(
  port: QdrantPort,
  names: CollectionNames,
  of: 'chunks' | 'texts',
  tell: Tell,
  signal?: AbortSignal,
): Promise<void> {
  const filter = { must: [{ key: 'live', match: { value: false } }] };
  for (let offset: string | undefined; ;) {
    const request = { filter, limit: perScroll, payload: ['doc'], ...(offset !== undefined && { offset }) };
    const { points, next } = await port.scroll(names[of], request, signal);
    const docs = [...new Set(points.map(({ payload }) => payload['doc'] as string))];
    if (docs.length > 0) {
      const records = [...(await readLedger(port, names, docs, tell, signal)).values()];
      const standing = of === 'chunks' ? records : records.map(standingText);
      await removeReplaced(port, names[of], standing, signal);
    }
    if (next === undefined) return;
    offset = next;
  }
}
