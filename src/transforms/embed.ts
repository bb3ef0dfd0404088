import { setMaxListeners } from 'node:events';
import type { Clock } from '../contracts/context.js';
import type { Batching, EmbeddingModel, EmbedText, TextRole } from '../contracts/embedding-model.js';
import { MillraceError } from '../errors/millrace-error.js';
import { untilAborted } from '../errors/until-aborted.js';
import { BatchBudget } from '../flow/batch-budget.js';
import { Batcher } from '../flow/batcher.js';
import type { Chance } from '../flow/chance.js';
import { retry } from '../flow/retry.js';
import { checkVector } from '../inference/check-vector.js';
import { createCountAhead } from './count-ahead.js';
import { estimateTokens } from './estimate-tokens.js';
import type { Report } from '../observability/events.js';

export interface EmbedderOptions {
  readonly model: EmbeddingModel;
  /** What the lane is called in events. Default: the model's name. */
  readonly lane?: string;
  readonly role: TextRole;
  readonly clock: Clock;
  /** Spreads the waits of many daemons on one service. Default: no spread. */
  readonly chance?: Chance | undefined;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** Embeds single texts, in batches gathered over all callers. */
export interface Embedder {
  /**
   * @param signal as of `embedAll`
   * @throws MillraceError `embedding_invalid`, `inference_failed`: this text alone cannot be embedded; the signal's reason
   */
  embed(text: EmbedText, signal?: AbortSignal): Promise<Embedding>;
  /**
   * One embedding a text, in their order.
   * @param signal what still waits for a batch when it aborts is not computed
   * @throws as `embed`, for the first text that fails; the signal's reason
   */
  embedAll(texts: readonly EmbedText[], signal?: AbortSignal): Promise<readonly Embedding[]>;
  /** As `embedAll`, but a text that fails leaves its error in its place. */
  embedEach(texts: readonly EmbedText[], signal?: AbortSignal): Promise<readonly (Embedding | Error)[]>;
}

export interface Embedding {
  readonly vector: Float32Array;
  /** `identityDigest` of the model that made it. */
  readonly modelId: string;
}

/** Most models put two around a text. */
const specialTokens = 2;

export function createEmbedder({
  model,
  lane = model.identity.name,
  role,
  clock,
  chance,
  signal,
  report,
}: EmbedderOptions): Embedder {
  // Every call under way listens; Node takes more than ten for a leak.
  setMaxListeners(0, signal);
  // A model that pays no heed to the signal must not hold up a stop.
  const patiently = <T>(call: (signal: AbortSignal) => Promise<T>) =>
    retry(() => untilAborted((async () => call(signal))(), signal), {
      clock,
      chance,
      signal,
      onRetry: (event) => report({ type: 'retry', lane, ...event }),
      onRecovered: () => report({ type: 'recovered', lane }),
    });
  const embedBatch = (texts: readonly EmbedText[]) => patiently((signal) => model.embed(texts, role, signal));

  /** What is over the model's limit is cut by it. */
  const tokensOf = ({ text, ids }: EmbedText) =>
    Math.min(ids?.length ?? estimateTokens(text), model.maxTokens) + specialTokens;

  const { padded, mostPadding, texts: maxItems, shareTokens, maxWaitMs = 0 } = model.batching;
  const batcher = new Batcher<EmbedText, Embedding>({
    run: async (texts, served) => {
      const began = clock.now();
      const { modelId, width, vectors, ms, tokens, paddedTokens } = await embedBatch(texts);
      if (ms !== undefined) served(ms);
      report({
        type: 'batch',
        lane,
        items: texts.length,
        cost: tokens ?? texts.reduce((sum, text) => sum + tokensOf(text), 0),
        ...(paddedTokens !== undefined && { paddedCost: paddedTokens }),
        ms: clock.now() - began,
        ...(ms !== undefined && { servedMs: ms }),
      });
      // Nobody can tell which text has which vector: the batch is split until its size is right again.
      if (vectors.length !== texts.length) throw countError(texts.length, vectors.length);
      const errors = vectors.map((vector) => checkVector(vector, width));
      if (errors.every((error) => error === undefined)) return vectors.map((vector) => ({ vector, modelId }));
      return Promise.all(
        vectors.map((vector, at) => {
          if (errors[at] === undefined) return { vector, modelId };
          return texts.length > 1 ? embedAlone(texts[at]!) : errors[at];
        }),
      );
    },
    cost: tokensOf,
    padded,
    mostPadding,
    maxCost: budgetOf(model.batching),
    maxItems,
    concurrency: model.concurrency,
    ...(shareTokens !== undefined && { shareFrom: shareTokens }),
    wait: { ms: maxWaitMs, clock, signal },
  });

  /** A vector that its batch may have spoilt is made once more alone. */
  async function embedAlone(text: EmbedText): Promise<Embedding | Error> {
    const { modelId, width, vectors } = await embedBatch([text]);
    const [vector] = vectors;
    if (vector === undefined) return countError(1, 0);
    return checkVector(vector, width) ?? { vector, modelId };
  }

  const countAhead = createCountAhead(model, patiently);

  async function embed(text: EmbedText, signal?: AbortSignal): Promise<Embedding> {
    // What finds every worker idle gains nothing by a known length.
    const known = countAhead === undefined || text.ids !== undefined || batcher.idle;
    return batcher.submit(known ? text : await countAhead(text), signal);
  }

  const areCounted = (texts: readonly EmbedText[]) =>
    countAhead === undefined || texts.every(({ ids }) => ids !== undefined);

  return {
    embed,
    embedAll: (texts, signal) =>
      areCounted(texts)
        ? batcher.submitAll(texts, signal)
        : Promise.all(texts.map((text) => embed(text, signal))),
    embedEach: (texts, signal) =>
      areCounted(texts)
        ? batcher.submitEach(texts, signal)
        : Promise.all(texts.map((text) => embed(text, signal).catch(MillraceError.from))),
  };
}

function budgetOf({
  tokens,
  minTokens = tokens,
  maxTokens = tokens,
  latencyMs,
}: Batching): number | BatchBudget {
  if (minTokens === maxTokens) return tokens;
  return new BatchBudget({ start: tokens, min: minTokens, max: maxTokens, latencyMs });
}

function countError(texts: number, vectors: number): MillraceError {
  return new MillraceError('embedding_invalid', `The model gave ${vectors} vectors for ${texts} texts.`);
}
