import type { ModelHandler } from '../../contracts/model-handler.js';
import { MillraceError } from '../../errors/millrace-error.js';
import type { Probe } from './probe.js';

interface Sample<Result> {
  readonly modelId: string;
  readonly results: readonly (Result | Error)[];
}

/**
 * Judges a handler by fixed items: one result each, an error only where the old model gave one too (not every task reads
 * every item), every number in them finite, all of the model that it says it is.
 * @throws MillraceError `probe_failed`
 */
export function handlerProbe<Item, Result>(
  items: readonly Item[],
): Probe<ModelHandler<Item, Result>, Sample<Result>> {
  return {
    async sample(model, signal) {
      const { modelId, results } = await model.run(items, signal);
      if (modelId !== model.modelId) throw failed(`it is ${model.modelId} and its results say ${modelId}`);
      return { modelId, results };
    },
    judge({ results }, old) {
      if (results.length !== items.length)
        throw failed(`it gave ${results.length} results for ${items.length} items`);
      for (const [at, result] of results.entries()) {
        if (result instanceof Error) {
          if (!(old.results[at] instanceof Error)) throw failed(result.message, result);
        } else if (!isFinite(result)) throw failed('a result holds a number that is not finite');
      }
    },
  };
}

/** Of all numbers in it, however deep. */
function isFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinite);
}

function failed(what: string, cause?: unknown): MillraceError {
  return new MillraceError('probe_failed', `The new model did not pass its probe: ${what}`, {
    cause,
    hint: 'The old model serves on. Look at the files of the new one: export it again, or run it elsewhere first.',
  });
}
