import type { Clock } from '../../contracts/context.js';
import { ApiError } from './api-error.js';
import { embeddingsReply } from './embeddings-reply.js';
import { readEmbeddingsRequest } from './embeddings-request.js';
import type { QueueBound } from './queue-bound.js';
import type { ServedModel } from './served-model.js';

export interface EmbeddingsContext {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly bound: QueueBound;
  /** Texts of one request at most. */
  readonly maxTexts: number;
  readonly clock: Clock;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface Embedded {
  readonly body: string;
  readonly texts: number;
  readonly tokens: number;
  /** From the request to its ids, and from there to its vectors, waiting for a batch included. */
  readonly stages: { readonly tokenizeMs: number; readonly embedMs: number };
}

/** Seconds after which a refused client may find room: some batches. */
const retryAfter = 1;

/** Answers `POST /v1/embeddings`. @throws ApiError, MillraceError */
export async function answerEmbeddings(
  json: string,
  { models, bound, maxTexts, clock, signal }: EmbeddingsContext,
): Promise<Embedded> {
  const { model: name, texts, placeOf, role, form, dimensions } = readEmbeddingsRequest(json, maxTexts);
  const model = models.get(name);
  if (model === undefined) throw noSuchModel(name, models);
  if (dimensions !== undefined && dimensions !== model.width)
    throw new ApiError(400, 'invalid_value', `${name} gives ${model.width} dimensions and no others.`, {
      param: 'dimensions',
    });
  const leave = bound.enter({ texts: texts.length });
  if (leave === undefined) throw overloaded();
  try {
    const began = clock.now();
    const ids = whole(await model.tokenize(texts, signal), placeOf);
    signal.throwIfAborted();
    const between = clock.now();
    const most = model.maxTokens[role];
    const long = ids.findIndex(({ length }) => length > most);
    if (long !== -1)
      throw new ApiError(
        400,
        'context_length_exceeded',
        `${placeOf(long)} has ${ids[long]!.length} tokens; ${name} reads ${most} of a ${role}. Divide the text: it is never cut in silence.`,
        { param: 'input' },
      );
    const encoded = texts.map((text, at) => ({ text, ids: ids[at]! }));
    const vectors = whole(await model.embed(encoded, role, signal), placeOf);
    const tokens = ids.reduce((sum, { length }) => sum + length, 0);
    const stages = { tokenizeMs: between - began, embedMs: clock.now() - between };
    const body = embeddingsReply({ model: name, vectors, form, tokens });
    return { body, texts: texts.length, tokens, stages };
  } finally {
    leave();
  }
}

/** What every text has. @throws ApiError for the first text that has an error in place of it, and names its place */
function whole<Result>(results: readonly (Result | Error)[], placeOf: (at: number) => string): Result[] {
  const failed = (result: Result | Error) => result instanceof Error;
  const first = results.findIndex(failed);
  if (first === -1) return results as Result[];
  const others = results.filter(failed).length - 1;
  throw ApiError.of(results[first], placeOf(first) + (others > 0 ? ` (and ${others} more)` : ''));
}

export function noSuchModel(name: string, models: ReadonlyMap<string, ServedModel>): ApiError {
  const known = [...models.keys()].join(', ');
  return new ApiError(404, 'model_not_found', `There is no model "${name}" here. Served: ${known}.`, {
    param: 'model',
  });
}

export function overloaded(): ApiError {
  return new ApiError(429, 'queue_full', 'The server has as much to do as it may hold: ask again.', {
    retryAfter,
  });
}
