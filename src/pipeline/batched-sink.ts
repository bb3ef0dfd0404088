import type { Clock } from '../contracts/context.js';
import type { DocumentWrite, LedgerEntry, Sink, WriteResult } from '../contracts/sink.js';
import { Batcher } from '../flow/batcher.js';
import { retry } from '../flow/retry.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Report } from '../observability/events.js';

export interface BatchedSinkOptions {
  readonly sink: Sink;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** A sink as one document sees it: the calls of many documents are gathered into batches, and outages are waited out. */
export interface BatchedSink {
  ledger(documentId: string): Promise<LedgerEntry | undefined>;
  /** Which of these chunks the store holds. */
  held(chunkIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** @throws MillraceError when this write alone is refused */
  write(write: DocumentWrite): Promise<Exclude<WriteResult, { kind: 'refused' }>>;
}

const lookupsAtOnce = 2_000;
const writesAtOnce = 512;
const bytesAtOnce = 4 * 1024 * 1024;
/** One batch is written while the next one is encoded. */
const batchesUnderWay = 2;

export function createBatchedSink({ sink, clock, signal, report }: BatchedSinkOptions): BatchedSink {
  const patiently = <T>(lane: string, call: () => Promise<T>): Promise<T> =>
    retry(call, {
      clock,
      signal,
      onRetry: (event) => report({ type: 'retry', lane, ...event }),
      onRecovered: () => report({ type: 'recovered', lane }),
    });

  const ledger = new Batcher<string, LedgerEntry | undefined>({
    run: async (ids) => {
      const entries = await patiently('ledger', () => sink.ledger([...new Set(ids)], signal));
      return ids.map((id) => entries.get(id));
    },
    cost: () => 1,
    maxCost: lookupsAtOnce,
    maxItems: lookupsAtOnce,
    concurrency: batchesUnderWay,
  });

  const held = new Batcher<readonly string[], ReadonlySet<string>>({
    run: async (lists) => {
      const all = await patiently('ledger', () => sink.heldChunks(lists.flat(), signal));
      return lists.map(() => all);
    },
    cost: (list) => list.length,
    maxCost: lookupsAtOnce,
    maxItems: lookupsAtOnce,
    concurrency: batchesUnderWay,
  });

  const write = new Batcher<DocumentWrite, WriteResult>({
    run: async (writes) => {
      const began = clock.now();
      const results = await patiently('sink', () => sink.write(writes, signal));
      report({
        type: 'batch',
        lane: 'sink',
        items: writes.length,
        cost: sumOf(writes, bytesOf),
        ms: clock.now() - began,
      });
      return results;
    },
    cost: bytesOf,
    maxCost: bytesAtOnce,
    maxItems: writesAtOnce,
    concurrency: batchesUnderWay,
  });

  return {
    ledger: (documentId) => ledger.submit(documentId),
    held: (chunkIds) => held.submit(chunkIds),
    write: async (one) => {
      const result = await write.submit(one);
      if (result.kind === 'refused') throw MillraceError.from(result.error);
      return result;
    },
  };
}

function bytesOf(write: DocumentWrite): number {
  if (write.kind !== 'store') return 100;
  return sumOf(write.chunks, ({ chunk, vector }) => 200 + chunk.text.length * 2 + (vector?.byteLength ?? 0));
}

function sumOf<T>(items: readonly T[], size: (item: T) => number): number {
  return items.reduce((sum, item) => sum + size(item), 0);
}
