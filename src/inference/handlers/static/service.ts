import type { TokenizerRef } from '../../../contracts/embedding-model.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import { loadTokenizer } from '../../tokenizer/load-tokenizer.js';
import type { Resources } from '../../workers/resources.js';
import type { Service } from '../../workers/service.js';
import { createAverageTokens } from './average-tokens.js';
import type { TokenVectors } from './token-vectors.js';

export interface StaticServiceOptions {
  readonly tokenizer: TokenizerRef;
  readonly vectors: TokenVectors;
  readonly normalize: boolean;
}

/** Texts, or their token ids one after the other with the number of each. */
export type StaticBatch =
  { readonly texts: readonly string[] } | { readonly ids: Int32Array; readonly counts: Int32Array };

/**
 * The static handler in a worker. `embed` takes a `StaticBatch` and gives one Float32Array, `width` components a text;
 * `count` takes a text and gives its number of tokens.
 */
export async function create(options: StaticServiceOptions, resources: Resources): Promise<Service> {
  const { vectors, normalize } = options;
  const tokenizer = await loadTokenizer(options.tokenizer, resources);
  if (tokenizer.vocabularySize > vectors.tokens)
    throw new MillraceError(
      'model_corrupt',
      `${vectors.file} has vectors for ${vectors.tokens} tokens, its tokenizer has ${tokenizer.vocabularySize}.`,
      { hint: 'The files of the model are of different revisions: fetch it again.' },
    );
  const average = createAverageTokens(vectors, { normalize, unknownId: tokenizer.unknownId });
  const { width, tokens } = vectors;

  function embedTexts(texts: readonly string[]): Float32Array<ArrayBuffer> {
    const out = new Float32Array(texts.length * width);
    texts.forEach((text, at) => {
      const ids = tokenizer.ids(text);
      average(ids, 0, ids.length, out, at * width);
    });
    return out;
  }

  function embedIds(ids: Int32Array, counts: Int32Array): Float32Array<ArrayBuffer> {
    for (let at = 0; at < ids.length; at++)
      if (ids[at]! < 0 || ids[at]! >= tokens)
        throw new MillraceError(
          'internal',
          `A token id is not one of the ${tokens} that ${vectors.file} has.`,
        );
    const out = new Float32Array(counts.length * width);
    let from = 0;
    counts.forEach((count, at) => {
      average(ids, from, from + count, out, at * width);
      from += count;
    });
    return out;
  }

  return {
    methods: {
      embed(batch: StaticBatch) {
        const value = 'texts' in batch ? embedTexts(batch.texts) : embedIds(batch.ids, batch.counts);
        return { value, transfer: [value.buffer] };
      },
      count: (text: string) => ({ value: tokenizer.ids(text).length }),
    },
  };
}
