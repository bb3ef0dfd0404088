import type { DocumentWrite, LedgerEntry } from '../../src/contracts/sink.js';
import { laterVersion } from '../../src/elements/version.js';

/** The fence as the contract's comments state it, for one source and without kept vectors: what a store must agree with. */
export interface FenceModel {
  write(write: DocumentWrite): {
    readonly kind: 'done' | 'stale' | 'moved';
    readonly clearedFailure?: boolean;
  };
  entry(documentId: string): LedgerEntry | undefined;
  texts(documentId: string): readonly string[];
}

export function fenceModel(): FenceModel {
  const entries = new Map<string, LedgerEntry>();
  const texts = new Map<string, readonly string[]>();

  function absent({ documentId, source }: DocumentWrite): LedgerEntry {
    return {
      documentId,
      source,
      version: undefined,
      state: 'absent',
      contentHash: undefined,
      chainDigest: undefined,
      chunkCount: 0,
      failedVersion: undefined,
    };
  }

  return {
    entry: (documentId) => entries.get(documentId),
    texts: (documentId) => texts.get(documentId) ?? [],
    write: (write) => {
      const old = entries.get(write.documentId) ?? absent(write);
      const { version } = write;
      const newer =
        (old.version === undefined || version > old.version) &&
        (old.failedVersion === undefined || version >= old.failedVersion);
      if (write.kind === 'fail') {
        if (!newer || old.failedVersion === version) return { kind: 'stale' };
        entries.set(write.documentId, { ...old, failedVersion: version });
        return { kind: 'done', clearedFailure: false };
      }
      const same =
        write.kind !== 'delete' &&
        old.contentHash === write.contentHash &&
        old.chainDigest === write.chainDigest;
      const replaces = write.kind === 'store' && old.version === version && !same;
      if (!newer && !replaces) return { kind: 'stale' };
      if (write.kind === 'touch' && !(old.state === 'stored' && same)) return { kind: 'moved' };
      const clearedFailure = old.failedVersion !== undefined && old.failedVersion <= version;
      const failedVersion = clearedFailure ? undefined : old.failedVersion;
      const next = { ...old, version: laterVersion(old.version, version), failedVersion };
      if (write.kind === 'store') {
        const { contentHash, chainDigest, chunks } = write;
        entries.set(write.documentId, {
          ...next,
          state: 'stored',
          contentHash,
          chainDigest,
          chunkCount: chunks.length,
        });
        texts.set(
          write.documentId,
          chunks.map(({ text }) => text),
        );
      } else if (write.kind === 'touch') {
        entries.set(write.documentId, next);
      } else {
        const gone = {
          state: 'deleted',
          contentHash: undefined,
          chainDigest: undefined,
          chunkCount: 0,
        } as const;
        entries.set(write.documentId, { ...next, ...gone });
        texts.delete(write.documentId);
      }
      return { kind: 'done', clearedFailure };
    },
  };
}
