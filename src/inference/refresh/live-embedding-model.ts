import type { EmbeddingModel, EmbedText } from '../../contracts/embedding-model.js';
import type { LiveModel } from './live-model.js';

/**
 * An embedding model whose inside may be exchanged while it is used. Texts are cut and tokenised for the model that was
 * there first: with a later one that has another tokenizer their ids are left out, and the texts tokenised again.
 */
export function createLiveEmbeddingModel(live: LiveModel<EmbeddingModel>): EmbeddingModel {
  const { tokenizer, maxTokens } = live.current;
  const hasIdsFor = (model: EmbeddingModel) => model.tokenizer?.digest === tokenizer?.digest;
  return {
    get identity() {
      return live.current.identity;
    },
    tokenizer,
    maxTokens,
    get batchInvariant() {
      return live.current.batchInvariant;
    },
    get concurrency() {
      return live.current.concurrency;
    },
    get batching() {
      return live.current.batching;
    },
    embed: (texts, role, signal) =>
      live.use((model) => model.embed(hasIdsFor(model) ? texts : withoutIds(texts), role, signal), signal),
    // Only the first one's ids can be told from a later model's.
    tokenize: (texts, signal) =>
      live.use(async (model) => (hasIdsFor(model) ? model.tokenize?.(texts, signal) : undefined), signal),
    close: () => live.close(),
  };
}

function withoutIds(texts: readonly EmbedText[]): EmbedText[] {
  return texts.map(({ text }) => ({ text }));
}
