import type { Clock } from '../../contracts/context.js';
import { Batcher } from '../../flow/batcher.js';
import { retry } from '../../flow/retry.js';
import type { WorkerPool } from '../../inference/workers/pool.js';
import type { Report } from '../../observability/events.js';
import type { ContextItem, ContextServiceOptions, FittedItem } from './context-service.js';

export interface ContextFitterOptions extends ContextServiceOptions {
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** Cuts contexts to what fits before their texts. */
export type ContextFitter = (items: readonly ContextItem[]) => Promise<readonly FittedItem[]>;

const charactersAtOnce = 64 * 1024;
const itemsAtOnce = 256;

/** Contexts of many documents are cut together, in worker threads; that some were cut is said once. */
export function createContextFitter(options: ContextFitterOptions): ContextFitter {
  const { measures, maxTokens, contextTokens, pool, clock, signal, report } = options;
  const service = pool.service(new URL('./context-service.js', import.meta.url), {
    measures,
    maxTokens,
    contextTokens,
  } satisfies ContextServiceOptions);
  let told = false;
  const batcher = new Batcher<ContextItem, FittedItem>({
    run: async (items) => {
      const fitted = await retry(() => service.call<FittedItem[]>('fit', items, { signal }), {
        clock,
        signal,
        onRetry: (event) => report({ type: 'retry', lane: 'context', ...event }),
      });
      if (!told && fitted.some(({ cut }) => cut)) {
        told = true;
        report({
          type: 'notice',
          level: 'warn',
          code: 'context_cut',
          message: `Contexts over ${contextTokens} tokens, or over what the model reads beside its chunk, are cut.`,
        });
      }
      return fitted;
    },
    cost: ({ context, text }) => context.length + text.length,
    maxCost: charactersAtOnce,
    maxItems: itemsAtOnce,
    concurrency: pool.size,
  });
  return (items) => batcher.submitAll(items);
}
