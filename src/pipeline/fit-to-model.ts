import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { Report } from '../observability/events.js';
import type { ChunkerSpec } from '../transforms/chunk/chunker.js';
import { resolveLimits, type LimitOptions } from '../transforms/chunk/limits.js';

/**
 * The chunker with all its sizes written out and within what the model reads, so that nothing is ever truncated in
 * silence. A larger `maxTokens` is lowered, and said.
 */
export function fitToModel(chunker: ChunkerSpec, model: EmbeddingModel, report: Report): ChunkerSpec {
  const fit = <Options extends LimitOptions>(options: Options): Options => {
    const limits = resolveLimits(options);
    if (limits.maxTokens <= model.maxTokens) return { ...options, ...limits };
    const maxTokens = model.maxTokens;
    if (options.maxTokens !== undefined)
      report({
        type: 'notice',
        level: 'warn',
        code: 'chunk_size_lowered',
        message: `Chunks have at most ${maxTokens} tokens, not ${limits.maxTokens}: the model ${model.identity.name} reads no more.`,
      });
    const { overlap, minTokens } = limits;
    return {
      ...options,
      maxTokens,
      overlap: Math.min(overlap, maxTokens - 1),
      minTokens: Math.min(minTokens, maxTokens),
    };
  };
  return chunker.markdown === undefined
    ? { recursive: fit(chunker.recursive) }
    : { markdown: fit(chunker.markdown) };
}
