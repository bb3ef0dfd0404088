import type { LedgerEntry } from '../contracts/sink.js';
import type { Document } from '../elements/document.js';
import { contentHash } from '../elements/hash.js';
import { laterVersion } from '../elements/version.js';
import { MillraceError } from '../errors/millrace-error.js';
import { holds } from './holds.js';

/** What is to be stored, and by which chain. */
export interface Content {
  readonly contentHash: string;
  readonly chainDigest: string;
}

export function contentOf(document: Document, chain: { readonly digest: string }): Content {
  return { contentHash: contentHash(document), chainDigest: chain.digest };
}

/** What was learned of a document before anything is made of it. */
export interface FirstLook {
  readonly content: Content;
  /** As the store had it. */
  readonly entry: LedgerEntry | undefined;
}

/**
 * How a document stands to what the store knows of it. `stale`: that is newer. `held`: it is this very content. `wanted`:
 * the document has to be stored.
 * @param source that hands the document over
 * @throws MillraceError `owner_mismatch`
 */
export function standingOf(
  { version }: Document,
  source: string,
  { content, entry }: FirstLook,
): 'stale' | 'held' | 'wanted' {
  if (entry === undefined) return 'wanted';
  if (entry.source !== source) throw ownedByAnother(entry, source);
  const known = laterVersion(entry.version, entry.failedVersion);
  if (known !== undefined && known > version) return 'stale';
  return holds(entry, content) ? 'held' : 'wanted';
}

/** Versions of two sources cannot be compared: a foreign document is refused before anything is made of it. */
function ownedByAnother({ documentId, source: owner }: LedgerEntry, source: string): MillraceError {
  return new MillraceError(
    'owner_mismatch',
    `Document ${JSON.stringify(documentId)} is owned by source ${JSON.stringify(owner)}, not ${JSON.stringify(source)}.`,
    { hint: 'Give the sources different ids, or write them to different pipelines.' },
  );
}
