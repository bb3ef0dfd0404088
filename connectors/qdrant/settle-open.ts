import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { readLedger } from './read-ledger.js';
import type { Tell } from './settle.js';

const perScroll = 1_000;

/** Ends what killed writers began: every committed write is shown, and told to those that follow. */
export async function settleOpen(
  port: QdrantPort,
  names: CollectionNames,
  tell: Tell,
  signal?: AbortSignal,
): Promise<void> {
  const filter = { must: [{ key: 'settled', match: { value: false } }] };
  for (let offset: string | undefined; ;) {
    const request = { filter, limit: perScroll, payload: [], ...(offset !== undefined && { offset }) };
    const { points, next } = await port.scroll(names.ledger, request, signal);
    const ids = points.map(({ id }) => id);
    await readLedger(port, names, ids, tell, signal);
    if (next === undefined) return;
    offset = next;
  }
}
