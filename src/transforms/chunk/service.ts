import type { TokenizerRef } from '../../contracts/embedding-model.js';
import { loadTokenizer } from '../../inference/tokenizer/load-tokenizer.js';
import { measureTokens } from '../../inference/tokenizer/measure-tokens.js';
import { sliceIds } from '../../inference/tokenizer/slice-ids.js';
import type { Encoding, Tokenizer } from '../../inference/tokenizer/tokenizer.js';
import type { Resources } from '../../inference/workers/resources.js';
import type { Service } from '../../inference/workers/service.js';
import { createSplitter, type ChunkerSpec } from './chunker.js';
import type { Passage } from './passage.js';

export interface ChunkServiceOptions {
  readonly chunker: ChunkerSpec;
  readonly tokenizer: TokenizerRef;
}

/** Passages of one text on their way to the main thread. */
export interface PackedPassages {
  readonly passages: readonly Passage[];
  /** Token ids of all embedded texts, one after another, and how many belong to each passage. */
  readonly ids: Int32Array;
  readonly counts: Int32Array;
}

/** Chunks texts in a worker thread. A text is tokenised once: its ids go on to the model. */
export async function create(
  { chunker, tokenizer: ref }: ChunkServiceOptions,
  resources: Resources,
): Promise<Service> {
  const tokenizer = await loadTokenizer(ref, resources);
  const split = createSplitter(chunker);

  function chunk(text: string): PackedPassages {
    let encoding: Encoding | undefined;
    const passages = split(text, (measured) => {
      const found = tokenizer.encode(measured);
      // The heading prefixes are measured too.
      if (measured === text) encoding = found;
      return measureTokens(tokenizer, found);
    });
    const pieces = passages.map((passage) => idsOf(passage, tokenizer, encoding!));
    return { passages, ...concatenate(pieces) };
  }

  return {
    methods: {
      chunk: (texts: readonly string[]) => {
        const value = texts.map(chunk);
        return {
          value,
          transfer: value.flatMap(({ ids, counts }) => [ids.buffer, counts.buffer] as ArrayBuffer[]),
        };
      },
    },
  };
}

/** Tokens of what the model will read: those of the prefix, then those of the slice. */
function idsOf({ prefix, start, end }: Passage, tokenizer: Tokenizer, encoding: Encoding): Int32Array {
  if (prefix === undefined || prefix === '') return sliceIds(tokenizer, encoding, start, end);
  return tokenizer.ids(prefix + encoding.text.slice(start, end));
}

function concatenate(pieces: readonly Int32Array[]): { ids: Int32Array; counts: Int32Array } {
  const counts = Int32Array.from(pieces, ({ length }) => length);
  const ids = new Int32Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const piece of pieces) {
    ids.set(piece, at);
    at += piece.length;
  }
  return { ids, counts };
}
