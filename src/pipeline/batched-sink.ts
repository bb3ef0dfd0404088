import type { Clock } from '../contracts/context.js';
import type { DocumentWrite, LedgerEntry, Sink, WriteResult } from '../contracts/sink.js';
import { Batcher } from '../flow/batcher.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Report } from '../observability/events.js';

export interface BatchedSinkOptions {
  /** One that waits out outages. */
  readonly sink: Sink;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

export type Written = Exclude<WriteResult, { kind: 'refused' }>;

/** A sink as one document sees it: the calls of many documents are gathered into batches. */
export interface BatchedSink {
  ledger(documentId: string): Promise<LedgerEntry | undefined>;
  /** One result an id, in their order; an Error concerns that id alone. */
  ledgerOfEach(documentIds: readonly string[]): Promise<readonly (LedgerEntry | undefined | Error)[]>;
  /** Which of these chunks the store holds with a vector in the space. */
  held(space: string, chunkIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** @throws MillraceError when this write alone is refused */
  write(write: DocumentWrite): Promise<Written>;
  /** One result a write, in their order; an Error concerns that write alone. */
  writeEach(writes: readonly DocumentWrite[]): Promise<readonly (Written | Error)[]>;
}

const lookupsAtOnce = 2_000;
const writesAtOnce = 512;
const bytesAtOnce = 4 * 1024 * 1024;
/** One batch is written while the next one is encoded. */
const batchesUnderWay = 2;

export function createBatchedSink({ sink, clock, signal, report }: BatchedSinkOptions): BatchedSink {
  const ledger = new Batcher<string, LedgerEntry | undefined>({
    run: async (ids) => {
      const entries = await sink.ledger([...new Set(ids)], signal);
      return ids.map((id) => entries.get(id));
    },
    cost: () => 1,
    maxCost: lookupsAtOnce,
    maxItems: lookupsAtOnce,
    concurrency: batchesUnderWay,
  });

  const held = new Map<string, Batcher<readonly string[], ReadonlySet<string>>>();
  const heldIn = (space: string) => {
    const found = held.get(space);
    if (found !== undefined) return found;
    const made = new Batcher<readonly string[], ReadonlySet<string>>({
      run: async (lists) => {
        const all = await sink.heldChunks(space, lists.flat(), signal);
        return lists.map(() => all);
      },
      cost: (list) => list.length,
      maxCost: lookupsAtOnce,
      maxItems: lookupsAtOnce,
      concurrency: batchesUnderWay,
    });
    held.set(space, made);
    return made;
  };

  const write = new Batcher<DocumentWrite, Written>({
    run: async (writes) => {
      const began = clock.now();
      const results = await sink.write(writes, signal);
      report({
        type: 'batch',
        lane: 'sink',
        items: writes.length,
        cost: writes.reduce((sum, one) => sum + bytesOf(one), 0),
        ms: clock.now() - began,
      });
      return results.map((result) => (result.kind === 'refused' ? MillraceError.from(result.error) : result));
    },
    cost: bytesOf,
    maxCost: bytesAtOnce,
    maxItems: writesAtOnce,
    concurrency: batchesUnderWay,
  });

  return {
    ledger: (documentId) => ledger.submit(documentId),
    held: (space, chunkIds) => heldIn(space).submit(chunkIds),
    ledgerOfEach: (documentIds) => ledger.submitEach(documentIds),
    write: (one) => write.submit(one),
    writeEach: (writes) => write.submitEach(writes),
  };
}

function bytesOf(write: DocumentWrite): number {
  if (write.kind !== 'store') return 100;
  let bytes = 0;
  for (const { vectors } of write.spaces) for (const vector of vectors) bytes += vector?.byteLength ?? 0;
  for (const { text } of write.chunks) bytes += 200 + text.length * 2;
  return bytes;
}
