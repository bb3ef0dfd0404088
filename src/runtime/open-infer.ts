import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import type { LaneShares } from '../flow/lane-shares.js';
import { createRouter, isKeyed } from '../inference/routing.js';
import type { HandlerSpec } from '../inference/handler-spec.js';
import type { InferIds } from '../pipeline/artifacts.js';
import type { InferSpec, PipelineSpec } from '../pipeline/spec.js';
import { createInferLane } from '../transforms/infer/infer-lane.js';
import { createInferStep, type InferStep } from '../transforms/infer/infer-step.js';
import type { OpenContext } from './open-parts.js';

/** The models of all infer steps, opened. */
export type InferModels = ReadonlyMap<InferSpec, ReadonlyMap<string, ModelHandler<Json, Json>>>;

/** @param open opens one of them, and sees to its end */
export async function openInferModels(
  spec: PipelineSpec,
  open: (model: HandlerSpec) => Promise<ModelHandler<Json, Json>>,
): Promise<InferModels> {
  const opened = new Map<InferSpec, ReadonlyMap<string, ModelHandler<Json, Json>>>();
  for (const step of inferSteps(spec)) {
    const models = new Map<string, ModelHandler<Json, Json>>();
    opened.set(step, models);
    for (const [name, model] of Object.entries(step.models)) models.set(name, await open(model));
  }
  return opened;
}

/**
 * What the chain remembers of the models of infer steps.
 * @param exchanged they may change while a run goes on: then it is the results that tell which model made them
 */
export function inferIds(models: InferModels, exchanged: boolean): InferIds {
  return new Map(
    [...models].map(([step, handlers]) => [
      step,
      Object.fromEntries(
        [...handlers].map(([name, { modelId }]) => [
          name,
          exchanged && hasFiles(step.models[name]) ? 'exchanged' : modelId,
        ]),
      ),
    ]),
  );
}

export function inferSteps({ documentSteps, chunkSteps }: PipelineSpec): readonly InferSpec[] {
  return [...documentSteps.flatMap(({ infer }) => (infer === undefined ? [] : [infer])), ...chunkSteps];
}

/** Wires an infer step to its models: a lane each. */
export function wireInfer(
  step: InferSpec,
  models: InferModels,
  shares: LaneShares,
  { clock, report }: OpenContext,
  signal: AbortSignal,
): InferStep {
  const keyed = isKeyed(step);
  const lanes = new Map(
    [...models.get(step)!].map(([model, handler]) => {
      const name = laneName(step, model);
      return [model, createInferLane({ name, handler, clock, signal, report })];
    }),
  );
  const { name, field, to, preprocess, postprocess } = step;
  return createInferStep({
    name,
    field,
    asText: to === 'text' || to === 'context',
    keyed,
    route: createRouter({ ...step, models: [...lanes.keys()] }),
    lanes,
    preprocess,
    postprocess,
    signal,
    within: keyed
      ? (models, bytes, work) =>
          shares.run(
            models.map((model) => laneName(step, model)),
            bytes,
            work,
          )
      : (_models, _bytes, work) => work(),
  });
}

/** The lanes of a step that must not hold up each other. */
export function inferLanes(step: InferSpec): readonly string[] {
  return isKeyed(step) ? Object.keys(step.models).map((model) => laneName(step, model)) : [];
}

function laneName(step: InferSpec, model: string): string {
  return isKeyed(step) ? `${step.name}:${model}` : step.name;
}

/** Only those can be exchanged. */
function hasFiles(model: HandlerSpec | undefined): boolean {
  return (model?.onnx ?? model?.transformers) !== undefined;
}
