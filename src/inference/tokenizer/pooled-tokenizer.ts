import type { Clock } from '../../contracts/context.js';
import type { TokenizerRef } from '../../contracts/embedding-model.js';
import { Batcher } from '../../flow/batcher.js';
import { retry } from '../../flow/retry.js';
import type { Report } from '../../observability/events.js';
import type { WorkerPool } from '../workers/pool.js';
import { unpackIds, type PackedIds } from './packed-ids.js';
import type { TokenizerServiceOptions } from './service.js';

export interface PooledTokenizerOptions {
  readonly tokenizer: TokenizerRef;
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** Tokenises texts of many callers in worker threads. */
export interface PooledTokenizer {
  /** Ids of each text, special tokens excluded: views of one buffer. @throws MillraceError for the first that fails */
  ids(texts: readonly string[]): Promise<readonly Int32Array[]>;
  /**
   * As `ids`, but a text that fails leaves its error in its place.
   * @param signal what still waits when it aborts is not tokenised
   */
  idsOfEach(texts: readonly string[], signal?: AbortSignal): Promise<readonly (Int32Array | Error)[]>;
  close(): Promise<void>;
}

/** Some 10 ms of work. */
const charactersAtOnce = 64 * 1024;

export function createPooledTokenizer(options: PooledTokenizerOptions): PooledTokenizer {
  const { tokenizer, pool, clock, signal, report } = options;
  const service = pool.service(new URL('./service.js', import.meta.url), {
    tokenizer,
  } satisfies TokenizerServiceOptions);
  const batcher = new Batcher<string, Int32Array>({
    run: async (texts) => {
      const packed = await retry(() => service.call<PackedIds>('ids', texts, { signal }), {
        clock,
        signal,
        onRetry: (event) => report({ type: 'retry', lane: 'tokenize', ...event }),
      });
      return unpackIds(packed);
    },
    cost: ({ length }) => length,
    maxCost: charactersAtOnce,
    maxItems: 1_024,
    concurrency: pool.size,
  });
  return {
    ids: (texts) => batcher.submitAll(texts),
    idsOfEach: (texts, signal) => batcher.submitEach(texts, signal),
    close: () => service.release(),
  };
}
