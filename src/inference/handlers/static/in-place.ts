import { loadTokenizer } from '../../tokenizer/load-tokenizer.js';
import type { InPlaceModel } from '../../in-place-model.js';
import type { Resources } from '../../workers/resources.js';
import { createAverageTokens } from './average-tokens.js';
import type { StaticServiceOptions } from './service.js';

/** The static handler where the tokens are: an average costs less than to send its tokens to another thread. */
export async function create(
  { vectors, normalize, tokenizer: ref }: StaticServiceOptions,
  resources: Resources,
): Promise<InPlaceModel> {
  const { unknownId } = await loadTokenizer(ref, resources);
  return { width: vectors.width, embed: createAverageTokens(vectors, { normalize, unknownId }) };
}
