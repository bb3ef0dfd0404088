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

/** A sink as one document sees it: the calls of many documents are gathered into batches. */
export interface BatchedSink {
  ledger(documentId: string): Promise<LedgerEntry | undefined>;
  /** Which of these chunks the store holds with a vector in the space. */
  held(space: string, chunkIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** @throws MillraceError when this write alone is refused */
  write(write: DocumentWrite): Promise<Exclude<WriteResult, { kind: 'refused' }>>;
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

  const write = new Batcher<DocumentWrite, WriteResult>({
    run: async (writes) => {
      const began = clock.now();
      const results = await sink.write(writes, signal);
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
    held: (space, chunkIds) => heldIn(space).submit(chunkIds),
    write: async (one) => {
      const result = await write.submit(one);
      if (result.kind === 'refused') throw MillraceError.from(result.error);
      return result;
    },
  };
}

function bytesOf(write: DocumentWrite): number {
  if (write.kind !== 'store') return 100;
  const vectors = sumOf(write.spaces, (space) => sumOf(space.vectors, (vector) => vector?.byteLength ?? 0));
  return vectors + sumOf(write.chunks, ({ text }) => 200 + text.length * 2);
}

function sumOf<T>(items: readonly T[], size: (item: T) => number): number {
  return items.reduce((sum, item) => sum + size(item), 0);
}
