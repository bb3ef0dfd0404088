import type { TokenizerRef } from '../../contracts/embedding-model.js';
import type { Resources } from '../workers/resources.js';
import type { Service } from '../workers/service.js';
import { loadTokenizer } from './load-tokenizer.js';
import { packIds } from './packed-ids.js';

export interface TokenizerServiceOptions {
  readonly tokenizer: TokenizerRef;
}

/** Tokenises texts in a worker, with the tokenizer that the models there share. */
export async function create(
  { tokenizer: ref }: TokenizerServiceOptions,
  resources: Resources,
): Promise<Service> {
  const tokenizer = await loadTokenizer(ref, resources);
  return {
    methods: {
      ids(texts: readonly string[]) {
        const value = packIds(texts.map((text) => tokenizer.ids(text)));
        return { value, transfer: [value.counts.buffer, value.ids.buffer] };
      },
    },
  };
}
