import type { TokenizerRef } from '../../contracts/embedding-model.js';
import type { Resources } from '../workers/resources.js';
import type { Service } from '../workers/service.js';
import { loadTokenizer } from './load-tokenizer.js';

export interface TokenizerServiceOptions {
  readonly tokenizer: TokenizerRef;
}

/** Answer of `ids`. */
export interface PackedIds {
  /** How many ids each text has. */
  readonly counts: Int32Array<ArrayBuffer>;
  /** Those of all texts, one after another; special tokens excluded. */
  readonly ids: Int32Array<ArrayBuffer>;
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
        const each = texts.map((text) => tokenizer.ids(text));
        const counts = Int32Array.from(each, ({ length }) => length);
        const ids = new Int32Array(counts.reduce((sum, count) => sum + count, 0));
        let used = 0;
        for (const one of each) {
          ids.set(one, used);
          used += one.length;
        }
        const value: PackedIds = { counts, ids };
        return { value, transfer: [counts.buffer, ids.buffer] };
      },
    },
  };
}
