import type { ByteMeasure, TokenizerRef } from '../../contracts/embedding-model.js';
import { loadTokenizer } from '../../inference/tokenizer/load-tokenizer.js';
import { measureTokens } from '../../inference/tokenizer/measure-tokens.js';
import { sliceIds } from '../../inference/tokenizer/slice-ids.js';
import type { Encoding, Tokenizer } from '../../inference/tokenizer/tokenizer.js';
import type { Resources } from '../../inference/workers/resources.js';
import type { Service } from '../../inference/workers/service.js';
import { createSplitter, type ChunkerSpec } from './chunker.js';
import { packPassages, type TokenPassage } from './packed-passages.js';
import type { Passage } from './passage.js';

export interface ChunkServiceOptions {
  readonly chunker: ChunkerSpec;
  readonly tokenizer: TokenizerRef | ByteMeasure;
}

/** Chunks texts in a worker thread. A text is tokenised once: its ids go on to the model. */
export async function create(
  { chunker, tokenizer: ref }: ChunkServiceOptions,
  resources: Resources,
): Promise<Service> {
  const tokenizer = await loadTokenizer(ref, resources);
  const split = createSplitter(chunker);

  function chunk(text: string): TokenPassage[] {
    let encoding: Encoding | undefined;
    const passages = split(text, (measured) => {
      const found = tokenizer.encode(measured);
      // The heading prefixes are measured too.
      if (measured === text) encoding = found;
      return measureTokens(tokenizer, found);
    });
    return passages.map((passage) => ({ ...passage, ids: idsOf(passage, tokenizer, encoding!) }));
  }

  return {
    methods: {
      chunk: (texts: readonly string[]) => {
        const value = packPassages(texts.map(chunk));
        return { value, transfer: [value.passages.buffer, value.table.buffer, value.ids.buffer] };
      },
    },
  };
}

/** Tokens of what the model will read: those of the prefix, then those of the slice. */
function idsOf({ prefix, start, end }: Passage, tokenizer: Tokenizer, encoding: Encoding): Int32Array {
  if (prefix === undefined || prefix === '') return sliceIds(tokenizer, encoding, start, end);
  return tokenizer.ids(prefix + encoding.text.slice(start, end));
}
