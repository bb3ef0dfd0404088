import { z } from 'zod';
import type { Batching } from '../contracts/embedding-model.js';

/** How large batches may be; handlers that pad take it as their option `batching`. */
export const batchingOptions = z
  .strictObject({
    minTokens: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Fewest tokens, padding counted, that a full batch is brought down to. Default 128, on a GPU 2048.',
      ),
    maxTokens: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Most tokens of a batch, padding counted. Default 4096, on a GPU 131072. A longer text goes alone.',
      ),
    latencyMs: z
      .number()
      .positive()
      .optional()
      .describe('Most time, in ms, that a batch should take in its worker. Default: none.'),
    maxWaitMs: z
      .number()
      .min(0)
      .max(60_000)
      .optional()
      .describe(
        'How long, in ms, a batch that is not full may wait for more texts while another is under way. Default 0: what is there goes as soon as a worker is idle.',
      ),
  })
  .refine(
    ({ minTokens = 0, maxTokens = Infinity }) => minTokens <= maxTokens,
    'minTokens is greater than maxTokens: swap them.',
  );

export type BatchingOptions = z.infer<typeof batchingOptions>;

/** A handler's own batching with what the configuration says otherwise; one bound moves the other along. */
export function withOptions(own: Batching, options: BatchingOptions = {}): Batching {
  const { minTokens = own.minTokens ?? own.tokens, maxTokens = own.maxTokens ?? own.tokens } = options;
  const least = Math.min(minTokens, options.maxTokens ?? Infinity);
  const most = Math.max(maxTokens, options.minTokens ?? 0);
  const { latencyMs = own.latencyMs, maxWaitMs = own.maxWaitMs } = options;
  return {
    ...own,
    tokens: Math.min(Math.max(own.tokens, least), most),
    minTokens: least,
    maxTokens: most,
    ...(latencyMs !== undefined && { latencyMs }),
    ...(maxWaitMs !== undefined && { maxWaitMs }),
  };
}
