import { keptSince } from './head-changes.js';
import type { Head } from './head.js';
import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';

const perScroll = 1_000;

/** Removes the kept texts of a generation that count no more. @returns whether it has a collection of them */
export async function sweepTexts(
  port: QdrantPort,
  { texts }: CollectionNames,
  head: Head | undefined,
  signal?: AbortSignal,
): Promise<boolean> {
  if (head?.keeps === undefined || (await port.describe(texts, signal)) === undefined) return false;
  const since = keptSince(head);
  const filter = since === undefined ? {} : { must_not: [{ key: 'since', match: { value: since } }] };
  for (;;) {
    const { points } = await port.scroll(texts, { filter, limit: perScroll, payload: [] }, signal);
    if (points.length === 0) return true;
    const ids = points.map(({ id }) => id);
    await port.update(texts, [{ delete: { filter: { must: [{ has_id: ids }] } } }], signal);
  }
}
