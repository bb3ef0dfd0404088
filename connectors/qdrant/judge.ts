import type { DocumentWrite, LedgerEntry } from '../../src/contracts/sink.js';

/** `same`: the store holds this very version and content. */
export type Verdict = 'go' | 'same' | 'stale' | 'moved' | 'owner';

/** The fence: whether a write goes over what the ledger holds. @see Sink */
export function judge(write: DocumentWrite, entry: LedgerEntry | undefined): Verdict {
  const { version } = write;
  if (entry !== undefined && entry.source !== write.source) return 'owner';
  const known = entry?.version;
  const failed = entry?.failedVersion;
  const newer = (known === undefined || version > known) && (failed === undefined || version >= failed);
  if (write.kind === 'fail') return newer && failed !== version ? 'go' : 'stale';
  const same =
    write.kind !== 'delete' &&
    entry?.contentHash === write.contentHash &&
    entry.chainDigest === write.chainDigest;
  if (!newer && !(write.kind === 'store' && known === version && !same))
    return known === version && same && entry?.state === 'stored' ? 'same' : 'stale';
  return write.kind === 'touch' && !(entry?.state === 'stored' && same) ? 'moved' : 'go';
}

/** What the ledger says once a write took effect. */
export function entryAfter(write: DocumentWrite, old: LedgerEntry | undefined): LedgerEntry {
  const entry = old ?? {
    documentId: write.documentId,
    source: write.source,
    version: undefined,
    state: 'absent',
    contentHash: undefined,
    chainDigest: undefined,
    chunkCount: 0,
    failedVersion: undefined,
  };
  if (write.kind === 'fail') return { ...entry, failedVersion: write.version };
  const { version } = write;
  const next = {
    ...entry,
    version,
    failedVersion: clearsFailure(write, old) ? undefined : entry.failedVersion,
  };
  switch (write.kind) {
    case 'store': {
      const { contentHash, chainDigest, chunks } = write;
      return { ...next, state: 'stored', contentHash, chainDigest, chunkCount: chunks.length };
    }
    case 'touch':
      return next;
    case 'delete':
      return { ...next, state: 'deleted', contentHash: undefined, chainDigest: undefined, chunkCount: 0 };
    default:
      return write satisfies never;
  }
}

/** Whether a write that goes supersedes an earlier failed version. */
export function clearsFailure(write: DocumentWrite, entry: LedgerEntry | undefined): boolean {
  return write.kind !== 'fail' && entry?.failedVersion !== undefined && entry.failedVersion <= write.version;
}
