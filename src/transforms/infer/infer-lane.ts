import type { Clock } from '../../contracts/context.js';
import type { ModelHandler } from '../../contracts/model-handler.js';
import type { Json } from '../../elements/metadata.js';
import { messageOf } from '../../errors/message-of.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { Batcher } from '../../flow/batcher.js';
import { retry } from '../../flow/retry.js';
import { untilAborted } from '../../errors/until-aborted.js';
import type { Report } from '../../observability/events.js';

export interface InferLaneOptions {
  /** What the lane is called in events. */
  readonly name: string;
  readonly handler: ModelHandler<Json, Json>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** A result, with the model that made it. */
export interface Inference {
  readonly modelId: string;
  readonly value: Json;
}

/** The one queue before a handler: items of many documents go through it in batches. */
export interface InferLane {
  /** @throws MillraceError that fails this item alone */
  infer(item: Json): Promise<Inference>;
}

export function createInferLane({ name, handler, clock, signal, report }: InferLaneOptions): InferLane {
  const { items: maxItems, cost: maxCost, costOf, padded } = handler.batching;
  const batcher = new Batcher<Json, Inference>({
    run: async (items) => {
      const began = clock.now();
      const { modelId, results } = await retry(() => call(items), {
        clock,
        signal,
        onRetry: (event) => report({ type: 'retry', lane: name, ...event }),
        onRecovered: () => report({ type: 'recovered', lane: name }),
      });
      const cost = items.reduce<number>((sum, item) => sum + costOf(item), 0);
      report({ type: 'batch', lane: name, items: items.length, cost, ms: clock.now() - began });
      return results.map((value) => {
        if (value instanceof Error) return asInferenceError(name, value);
        return value === undefined
          ? asInferenceError(name, 'It gave nothing for this item.')
          : { modelId, value };
      });
    },
    cost: costOf,
    maxCost,
    maxItems,
    padded,
    concurrency: handler.concurrency,
  });

  async function call(items: readonly Json[]) {
    try {
      // A handler that pays no heed to the signal must not hold up a stop.
      const answer = await untilAborted((async () => handler.run(items, signal))(), signal);
      if (!Array.isArray(answer.results))
        throw new Error(`It gave ${typeof answer.results}, not a list with a result an item.`);
      if (answer.results.length === items.length) return answer;
      throw new Error(`${items.length} items gave ${answer.results.length} results.`);
    } catch (error) {
      signal.throwIfAborted();
      throw asInferenceError(name, error);
    }
  }

  return { infer: (item) => batcher.submit(item) };
}

function asInferenceError(name: string, error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  const message = messageOf(error);
  return new MillraceError('inference_failed', `The model of "${name}" failed: ${message}`, { cause: error });
}
