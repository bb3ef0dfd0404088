import type { Clock } from '../../contracts/context.js';
import type { ByteMeasure, InPlaceModelRef, TokenizerRef } from '../../contracts/embedding-model.js';
import { Batcher } from '../../flow/batcher.js';
import { retry } from '../../flow/retry.js';
import type { WorkerPool } from '../../inference/workers/pool.js';
import type { Report } from '../../observability/events.js';
import type { ChunkerSpec } from './chunker.js';
import { idsReader } from '../../inference/tokenizer/packed-ids.js';
import { unpackPassages } from './packed-passages.js';
import type { Passage } from './passage.js';
import type { ChunkedTexts, ChunkServiceOptions, EmbeddedTexts } from './service.js';

export interface ChunkerOptions {
  /** With sizes that the model can take. */
  readonly chunker: ChunkerSpec;
  readonly tokenizer: TokenizerRef | ByteMeasure;
  /** Of other models that read the same chunks. */
  readonly others?: readonly (TokenizerRef | ByteMeasure)[] | undefined;
  /** A model that can be run where texts are chunked. */
  readonly model?:
    { readonly ref: InPlaceModelRef; readonly name: string; readonly width: number } | undefined;
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** The passages of a text, and of each the token ids of what the model will read. */
export interface TokenPassages {
  readonly passages: readonly Passage[];
  readonly ids: readonly Int32Array[];
}

/** The passages of a text, and of each its vector, unchecked. */
export interface EmbeddedPassages {
  readonly passages: readonly Passage[];
  readonly vectors: readonly Float32Array[];
}

/** Chunks texts in worker threads, those of many documents at a time. */
export interface Chunker {
  chunk(text: string): Promise<TokenPassages>;
  /**
   * Present where the model can be run in place: chunks and vectors in one call to a worker. One result a text, in their
   * order; an Error concerns that text alone.
   */
  readonly chunkAndEmbed:
    ((texts: readonly string[]) => Promise<readonly (EmbeddedPassages | Error)[]>) | undefined;
}

/** Characters of one call: some 10 ms of work, so that a long document does not keep short ones waiting behind it. */
const charactersAtOnce = 64 * 1024;
/** What is made of so many short texts still fits into the young generation of a worker. */
const textsAtOnce = 32;

export function createChunker(options: ChunkerOptions): Chunker {
  const { chunker, tokenizer, others, model, pool, clock, signal, report } = options;
  const service = pool.service(new URL('./service.js', import.meta.url), {
    chunker,
    tokenizer,
    others,
    model: model?.ref,
  } satisfies ChunkServiceOptions);

  function batcher<Result>(run: (texts: readonly string[]) => Promise<Result[]>): Batcher<string, Result> {
    return new Batcher<string, Result>({
      run: (texts) =>
        retry(() => run(texts), {
          clock,
          signal,
          onRetry: (event) => report({ type: 'retry', lane: 'chunk', ...event }),
        }),
      cost: (text) => text.length,
      maxCost: charactersAtOnce,
      maxItems: textsAtOnce,
      concurrency: pool.size * 2,
    });
  }

  const chunking = batcher(async (texts) => {
    const packed = await service.call<ChunkedTexts>('chunk', texts, { signal });
    const nextIds = idsReader(packed);
    return unpackPassages(packed).map((passages): TokenPassages => ({
      passages,
      ids: passages.map(nextIds),
    }));
  });
  const both =
    model &&
    batcher(async (texts) => {
      const began = clock.now();
      const packed = await service.call<EmbeddedTexts>('chunkAndEmbed', texts, { signal });
      const { width } = model;
      let used = 0;
      const nextVector = () => packed.vectors.subarray(used, (used += width));
      const all = unpackPassages(packed).map((passages): EmbeddedPassages => ({
        passages,
        vectors: passages.map(nextVector),
      }));
      report({ type: 'batch', lane: model.name, ...sizeOf(all), ms: clock.now() - began });
      return all;
    });

  return {
    chunk: (text) => chunking.submit(text),
    chunkAndEmbed: both && ((texts) => both.submitEach(texts)),
  };
}

function sizeOf(texts: readonly EmbeddedPassages[]): { items: number; cost: number } {
  let items = 0;
  let cost = 0;
  for (const { passages } of texts) {
    items += passages.length;
    for (const { tokens } of passages) cost += tokens;
  }
  return { items, cost };
}
