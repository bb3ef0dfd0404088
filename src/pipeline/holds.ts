import type { LedgerEntry } from '../contracts/sink.js';

/** The store holds this very content, as this chain makes it. */
export function holds(
  entry: LedgerEntry | undefined,
  content: { contentHash: string; chainDigest: string },
): boolean {
  return (
    entry?.state === 'stored' &&
    entry.contentHash === content.contentHash &&
    entry.chainDigest === content.chainDigest
  );
}
