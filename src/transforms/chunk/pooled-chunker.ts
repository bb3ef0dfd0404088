import type { Clock } from '../../contracts/context.js';
import type { ByteMeasure, TokenizerRef } from '../../contracts/embedding-model.js';
import { Batcher } from '../../flow/batcher.js';
import { retry } from '../../flow/retry.js';
import type { WorkerPool } from '../../inference/workers/pool.js';
import type { Report } from '../../observability/events.js';
import type { ChunkerSpec } from './chunker.js';
import { unpackPassages, type PackedPassages, type TokenPassage } from './packed-passages.js';
import type { ChunkServiceOptions } from './service.js';

export interface ChunkerOptions {
  /** With sizes that the model can take. */
  readonly chunker: ChunkerSpec;
  readonly tokenizer: TokenizerRef | ByteMeasure;
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** Chunks texts in worker threads, those of many documents at a time. */
export interface Chunker {
  chunk(text: string): Promise<readonly TokenPassage[]>;
}

/** Characters of one call: some 10 ms of work, so that a long document does not keep short ones waiting behind it. */
const charactersAtOnce = 64 * 1024;
const textsAtOnce = 256;

export function createChunker({ chunker, tokenizer, pool, clock, signal, report }: ChunkerOptions): Chunker {
  const options: ChunkServiceOptions = { chunker, tokenizer };
  const service = pool.service(new URL('./service.js', import.meta.url), options);
  const batcher = new Batcher<string, readonly TokenPassage[]>({
    run: async (texts) => {
      const packed = await retry(() => service.call<PackedPassages>('chunk', texts, { signal }), {
        clock,
        signal,
        onRetry: (event) => report({ type: 'retry', lane: 'chunk', ...event }),
      });
      return unpackPassages(packed);
    },
    cost: (text) => text.length,
    maxCost: charactersAtOnce,
    maxItems: textsAtOnce,
    concurrency: pool.size * 2,
  });
  return { chunk: (text) => batcher.submit(text) };
}
