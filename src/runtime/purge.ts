import type { FailedRecord, FailedStore } from '../contracts/failed-store.js';
import type { Sink } from '../contracts/sink.js';
import type { PassScope } from '../contracts/source.js';
import type { Deletion } from '../elements/document.js';

export interface PurgeOptions {
  readonly sink: Sink;
  readonly failed: FailedStore;
  readonly source: string;
  readonly scope: PassScope;
  /** Brings deletions through the fence. */
  process(deletions: readonly Deletion[]): Promise<unknown>;
  readonly signal: AbortSignal;
}

const page = 500;

/**
 * After a complete pass: forgets failures of before it. A document of theirs that the pass named failed again, under a
 * newer record, or is well by now; one that it did not name is gone, and with it the user's text in its record.
 */
export async function purge({ sink, failed, source, scope, process, signal }: PurgeOptions): Promise<void> {
  let outdated: FailedRecord[] = [];
  const flush = async () => {
    const ids = outdated.map(({ documentId }) => documentId);
    const entries = await sink.ledger(ids, signal);
    // Never stored, or deleted before: the sweep of stored documents does not see it.
    const gone = ids.filter(
      (id) => entries.get(id)?.state !== 'stored' && entries.get(id)?.source === source,
    );
    await process(gone.map((id) => ({ kind: 'deletion', id, version: scope.since })));
    await failed.discard(outdated);
    outdated = [];
  };
  for await (const record of failed.list({ idPrefix: scope.prefix })) {
    signal.throwIfAborted();
    if (record.source !== source || !(record.version < scope.since)) continue;
    if (scope.except.some((prefix) => record.documentId.startsWith(prefix))) continue;
    outdated.push(record);
    if (outdated.length === page) await flush();
  }
  if (outdated.length > 0) await flush();
}
