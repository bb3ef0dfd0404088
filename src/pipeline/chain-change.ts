import type { Json } from '../elements/metadata.js';
import type { ChainArtifact } from './artifacts.js';
import { differences } from './differences.js';

/**
 * What of a change of chain cannot be made from stored chunks: all but the models, what chunks are measured with, and the
 * terms that are kept of them. One line a difference; none when the stored texts are those that the new chain embeds.
 */
export function changedTexts(stored: ChainArtifact, ours: ChainArtifact): readonly string[] {
  return differences(textsOf(stored.chain), textsOf(ours.chain));
}

/** The models read text in the same tokens, so that the length of a stored chunk is known for the new one. */
export function sameTokens(stored: ChainArtifact, ours: ChainArtifact, space: string): boolean {
  const before = stored.identities[space]?.tokenizer;
  return before !== undefined && before !== 'remote' && before === ours.identities[space]?.tokenizer;
}

function textsOf(chain: Json): Json {
  const {
    model: _model,
    models,
    measure: _measure,
    sparse: _sparse,
    ...rest
  } = chain as Record<string, Json>;
  if (models === undefined) return rest;
  // Of several models each route has its own measures.
  const chunk = Object.fromEntries(
    Object.entries(rest['chunk'] as Record<string, Record<string, Json>>).map(([route, how]) => {
      const { measures: _measures, ...chunker } = how;
      return [route, chunker];
    }),
  );
  return { ...rest, chunk, models: Object.keys(models as object).sort() };
}
