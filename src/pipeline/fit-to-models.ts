import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Report } from '../observability/events.js';
import type { ChainSpec } from './spec.js';
import type { ChunkerSpec } from '../transforms/chunk/chunker.js';
import { resolveLimits, type LimitOptions } from '../transforms/chunk/limits.js';

/**
 * The chunker with all its sizes written out and within what the smallest of the models reads, so that nothing is ever truncated in
 * silence. A larger `maxTokens` is lowered, and said.
 * @param reserved tokens that contexts may take
 */
export function fitToModels(
  chunker: ChunkerSpec,
  models: readonly EmbeddingModel[],
  report: Report,
  reserved = 0,
): ChunkerSpec {
  const model = models.reduce((least, one) => (one.maxTokens < least.maxTokens ? one : least));
  const most = model.maxTokens - reserved;
  if (most < 1)
    throw new MillraceError(
      'config_invalid',
      `Contexts of ${reserved} tokens leave no room for text: the model ${model.identity.name} reads ${model.maxTokens}.`,
      { hint: 'Lower maxTokens of the infer steps with `to: context`.' },
    );
  const fit = <Options extends LimitOptions>(options: Options): Options => {
    const limits = resolveLimits(options);
    if (limits.maxTokens <= most) return { ...options, ...limits };
    const maxTokens = most;
    if (options.maxTokens !== undefined)
      report({
        type: 'notice',
        level: 'warn',
        code: 'chunk_size_lowered',
        message: `Chunks have at most ${maxTokens} tokens, not ${limits.maxTokens}: the model ${model.identity.name} reads no more${reserved > 0 ? ' beside the contexts' : ''}.`,
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

/** Tokens that the contexts of a chain may take beside a chunk. */
export function reservedTokens({ chunkSteps }: ChainSpec): number {
  return chunkSteps.reduce((sum, { to, maxTokens }) => sum + (to === 'context' ? maxTokens : 0), 0);
}
