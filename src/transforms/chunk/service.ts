import type { ByteMeasure, InPlaceModelRef, TokenizerRef } from '../../contracts/embedding-model.js';
import { openInPlace, type InPlaceModel } from '../../inference/in-place-model.js';
import { loadTokenizer } from '../../inference/tokenizer/load-tokenizer.js';
import { measureTokens } from '../../inference/tokenizer/measure-tokens.js';
import { sliceIds } from '../../inference/tokenizer/slice-ids.js';
import type { Encoding, Tokenizer } from '../../inference/tokenizer/tokenizer.js';
import type { Resources } from '../../inference/workers/resources.js';
import type { Service } from '../../inference/workers/service.js';
import { createSplitter, type ChunkerSpec } from './chunker.js';
import { packIds, type PackedIds } from '../../inference/tokenizer/packed-ids.js';
import { countOf, packPassages, type PackedPassages } from './packed-passages.js';
import type { Passage } from './passage.js';
import { strictestMeasure } from './strictest-measure.js';

export interface ChunkServiceOptions {
  readonly chunker: ChunkerSpec;
  readonly tokenizer: TokenizerRef | ByteMeasure;
  /** Of other models that read the same chunks. */
  readonly others?: readonly (TokenizerRef | ByteMeasure)[] | undefined;
  /** The model, for `chunkAndEmbed`. */
  readonly model?: InPlaceModelRef | undefined;
}

/** Answer of `chunk`: passages, and of each the ids of what the model will read. */
export interface ChunkedTexts extends PackedPassages, PackedIds {}

/** Answer of `chunkAndEmbed`: passages and their vectors, one after another. */
export interface EmbeddedTexts extends PackedPassages {
  readonly vectors: Float32Array<ArrayBuffer>;
}

/**
 * Chunks texts in a worker thread. A text is tokenised once: its ids go on to the model, in another call or, where it
 * can be run in place, at once.
 */
export async function create(
  { chunker, tokenizer: ref, others = [], model: modelRef }: ChunkServiceOptions,
  resources: Resources,
): Promise<Service> {
  const tokenizer = await loadTokenizer(ref, resources);
  const more = await Promise.all(others.map((other) => loadTokenizer(other, resources)));
  const model = modelRef && (await openInPlace(modelRef, resources));
  const split = createSplitter(chunker);

  function chunk(text: string): SplitText {
    let encoding: Encoding | undefined;
    const passages = split(text, (measured) => {
      const found = tokenizer.encode(measured);
      // The heading prefixes are measured too.
      if (measured === text) encoding = found;
      if (more.length === 0) return measureTokens(tokenizer, found);
      const others = more.map((other) => measureTokens(other, other.encode(measured)));
      return strictestMeasure([measureTokens(tokenizer, found), ...others]);
    });
    return { passages, encoding: encoding! };
  }

  function chunkAll(texts: readonly string[]): ChunkedTexts {
    const all = texts.map(chunk);
    const ids = all.flatMap(({ passages, encoding }) =>
      passages.map((passage) => idsOf(passage, tokenizer, encoding)),
    );
    return { ...packPassages(all.map(({ passages }) => passages)), ...packIds(ids) };
  }

  function embedAll(texts: readonly string[], { width, embed }: InPlaceModel): EmbeddedTexts {
    const all = texts.map(chunk);
    const packed = packPassages(all.map(({ passages }) => passages));
    const vectors = new Float32Array(countOf(packed) * width);
    let at = 0;
    for (const { passages, encoding } of all)
      for (const passage of passages) {
        const ids = idsOf(passage, tokenizer, encoding);
        embed(ids, 0, ids.length, vectors, at);
        at += width;
      }
    return { ...packed, vectors };
  }

  return {
    methods: {
      chunk: (texts: readonly string[]) => {
        const value = chunkAll(texts);
        return { value, transfer: [value.passages.buffer, value.table.buffer, value.ids.buffer] };
      },
      chunkAndEmbed: (texts: readonly string[]) => {
        const value = embedAll(texts, model!);
        return { value, transfer: [value.passages.buffer, value.table.buffer, value.vectors.buffer] };
      },
    },
  };
}

interface SplitText {
  readonly passages: readonly Passage[];
  readonly encoding: Encoding;
}

/** Tokens of what the model will read: those of the prefix, then those of the slice. */
function idsOf({ prefix, start, end }: Passage, tokenizer: Tokenizer, encoding: Encoding): Int32Array {
  if (prefix === undefined || prefix === '') return sliceIds(tokenizer, encoding, start, end);
  return tokenizer.ids(prefix + encoding.text.slice(start, end));
}
