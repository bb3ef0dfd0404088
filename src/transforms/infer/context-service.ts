import type { ByteMeasure, TokenizerRef } from '../../contracts/embedding-model.js';
import { loadTokenizer } from '../../inference/tokenizer/load-tokenizer.js';
import { measureTokens } from '../../inference/tokenizer/measure-tokens.js';
import type { Resources } from '../../inference/workers/resources.js';
import type { Service } from '../../inference/workers/service.js';
import { strictestMeasure } from '../chunk/strictest-measure.js';
import { fitContext, type FittedContext } from './fit-context.js';

export interface ContextServiceOptions {
  readonly measures: readonly (TokenizerRef | ByteMeasure)[];
  /** Most tokens of a context and its text together: what the smallest model of the route reads. */
  readonly maxTokens: number;
  /** Most tokens of a context. */
  readonly contextTokens: number;
}

/** A context and the text that it is put before. */
export interface ContextItem {
  readonly context: string;
  readonly text: string;
}

export interface FittedItem extends FittedContext {
  /** Token ids of the prefix and the text together, by the first measure. */
  readonly ids: Int32Array;
}

/** Cuts contexts in a worker thread so that they and their texts fit the model. */
export async function create(
  { measures: refs, maxTokens, contextTokens }: ContextServiceOptions,
  resources: Resources,
): Promise<Service> {
  const tokenizers = await Promise.all(refs.map((ref) => loadTokenizer(ref, resources)));
  const [first] = tokenizers;
  const measure = (text: string) => {
    const measures = tokenizers.map((tokenizer) => measureTokens(tokenizer, tokenizer.encode(text)));
    return strictestMeasure(measures);
  };
  return {
    methods: {
      fit: (items: readonly ContextItem[]) => ({
        value: items.map(({ context, text }): FittedItem => {
          const fitted = fitContext(context, text, measure, { maxTokens, contextTokens });
          return { ...fitted, ids: first!.ids(fitted.prefix + text) };
        }),
      }),
    },
  };
}
