import type { TokenizerRef } from '../../contracts/embedding-model.js';
import { Batcher } from '../../flow/batcher.js';
import type { WorkerPool } from '../workers/pool.js';
import { unpackIds, type PackedIds } from './packed-ids.js';
import type { TokenizerServiceOptions } from './service.js';

/** Tokenises texts of many callers in worker threads. */
export interface PooledTokenizer {
  /** Ids of each text, special tokens excluded: views of one buffer. */
  ids(texts: readonly string[]): Promise<readonly Int32Array[]>;
  close(): Promise<void>;
}

/** Some 10 ms of work. */
const charactersAtOnce = 64 * 1024;

export function createPooledTokenizer(
  tokenizer: TokenizerRef,
  pool: WorkerPool,
  signal: AbortSignal,
): PooledTokenizer {
  const options: TokenizerServiceOptions = { tokenizer };
  const service = pool.service(new URL('./service.js', import.meta.url), options);
  const batcher = new Batcher<string, Int32Array>({
    run: async (texts) => {
      return unpackIds(await service.call<PackedIds>('ids', texts, { signal }));
    },
    cost: ({ length }) => length,
    maxCost: charactersAtOnce,
    maxItems: 1_024,
    concurrency: pool.size,
  });
  return { ids: (texts) => batcher.submitAll(texts), close: () => service.release() };
}
