import type { ByteMeasure, EmbeddingModel, TokenizerRef } from '../contracts/embedding-model.js';
import { routesOf } from '../inference/routing.js';
import type { Report } from '../observability/events.js';
import type { EmbeddingPlan, RoutePlan } from './artifacts.js';
import { fitToModels, reservedTokens } from './fit-to-models.js';
import { measuredLimit, measureOf } from './measure-of.js';
import type { PipelineSpec } from './spec.js';

type Measure = TokenizerRef | ByteMeasure;

/** How documents of each route are chunked, for the models as they are. @param models by name */
export function planEmbedding(
  spec: PipelineSpec,
  models: ReadonlyMap<string, EmbeddingModel>,
  report: Report,
): EmbeddingPlan {
  const reserved = reservedTokens(spec);
  const routes = routesOf({ ...spec.embed, models: [...models.keys()] }).map((names): RoutePlan => {
    const readers = names.map((name) => models.get(name)!);
    const chunker = fitToModels(spec.chunk, readers, report, reserved);
    const measured = readers.map((model) => ({ model, measure: measureOf(chunker, model, reserved) }));
    const [first, ...others] = new Map(measured.map(({ measure }) => [keyOf(measure), measure])).values();
    return {
      models: names,
      chunker,
      measures: [first!, ...others],
      maxTokens: Math.min(...measured.map(({ measure, model }) => measuredLimit(measure, model))),
    };
  });
  const identities = Object.fromEntries([...models].map(([name, { identity }]) => [name, identity]));
  return { routes, identities };
}

function keyOf(measure: Measure): string | number {
  return 'digest' in measure ? measure.digest : measure.bytesPerToken;
}
