import type { ByteMeasure, EmbeddingModel, TokenizerRef } from '../contracts/embedding-model.js';
import type { ChunkerSpec } from '../transforms/chunk/chunker.js';
import { resolveLimits } from '../transforms/chunk/limits.js';

/** Bytes of a token of English and code, on average. */
const usualBytes = 4;

/**
 * What chunks are measured with: the model's tokenizer, else their bytes. A token is then taken for four bytes, or for
 * fewer where a full chunk could otherwise hold more bytes than the model reads tokens.
 * @param chunker with sizes that the model can take
 * @param reserved tokens that contexts may take beside a chunk
 */
export function measureOf(
  chunker: ChunkerSpec,
  model: EmbeddingModel,
  reserved = 0,
): TokenizerRef | ByteMeasure {
  if (model.tokenizer !== undefined) return model.tokenizer;
  const { maxTokens } = resolveLimits(chunker.markdown ?? chunker.recursive);
  return {
    bytesPerToken: Math.max(1, Math.min(usualBytes, Math.floor(model.maxTokens / (maxTokens + reserved)))),
  };
}

/** What the model reads, in tokens of the measure. */
export function measuredLimit(measure: TokenizerRef | ByteMeasure, { maxTokens }: EmbeddingModel): number {
  return 'bytesPerToken' in measure ? Math.floor(maxTokens / measure.bytesPerToken) : maxTokens;
}
