import type { LedgerEntry } from '../../contracts/sink.js';

/** One document of which source and store say something else. */
export interface Difference {
  /**
   * `missing`: the source has it, the store does not. `stale`: the store holds another content. `orphaned`: the source no
   * longer has it. `failed`: its newest version could not be read or embedded; it waits among the failed elements.
   */
  readonly kind: 'missing' | 'stale' | 'orphaned' | 'failed';
  readonly documentId: string;
  /** What the ledger said; undefined where it has no row. */
  readonly entry: LedgerEntry | undefined;
}

/** What the source has of a document: the hash of its content, or that it cannot be read. */
export type SourceSide = { readonly hash: string } | 'unreadable';

/** @param compareContent false where the content is changed before it is stored, so that hashes say nothing */
export function differenceOf(
  documentId: string,
  here: SourceSide | undefined,
  entry: LedgerEntry | undefined,
  compareContent: boolean,
): Difference | undefined {
  const found = (kind: Difference['kind']): Difference => ({ kind, documentId, entry });
  const stored = entry?.state === 'stored';
  if (here === undefined) return stored ? found('orphaned') : undefined;
  if (here === 'unreadable' || entry?.failedVersion !== undefined) return found('failed');
  if (!stored) return found('missing');
  return compareContent && entry.contentHash !== here.hash ? found('stale') : undefined;
}

/** The same word of the same document in the same state: nothing moved between two looks. */
export function isSame(a: Difference, b: Difference | undefined): boolean {
  return (
    a.kind === b?.kind &&
    a.entry?.version === b.entry?.version &&
    a.entry?.failedVersion === b.entry?.failedVersion
  );
}
