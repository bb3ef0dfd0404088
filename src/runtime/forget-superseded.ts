import type { FailedRecord, FailedStore } from '../contracts/failed-store.js';
import type { Sink } from '../contracts/sink.js';

export interface ForgetOptions {
  readonly sink: Sink;
  readonly failed: FailedStore;
  readonly source: string;
  readonly signal: AbortSignal;
}

const page = 500;

/**
 * Forgets failures that a newer version has superseded. A process that was killed between the write of that version and the
 * removal of the record leaves such records, as does a write whose answer was lost; nothing else would take them away.
 */
export async function forgetSuperseded({ sink, failed, source, signal }: ForgetOptions): Promise<void> {
  let records: FailedRecord[] = [];
  const flush = async () => {
    const entries = await sink.ledger(
      records.map(({ documentId }) => documentId),
      signal,
    );
    const over = records.filter(({ documentId, version }) => {
      const entry = entries.get(documentId);
      // The ledger is marked before a record is put: one that it does not know of is not from here.
      if (entry?.source !== source || entry.failedVersion === version) return false;
      return entry.version !== undefined && entry.version >= version;
    });
    if (over.length > 0) await failed.discard(over);
    records = [];
  };
  for await (const record of failed.list()) {
    signal.throwIfAborted();
    if (record.source !== source) continue;
    records.push(record);
    if (records.length === page) await flush();
  }
  if (records.length > 0) await flush();
}
