import type { ModelSpec } from '../../inference/model-spec.js';
import type { PipelineSpec } from '../../pipeline/spec.js';

/** A refresh found a model of another space for one that fills the store. */
export interface SpaceChange {
  /** As the chain names the model whose place it would take. */
  readonly model: string;
  readonly revision: string | undefined;
  /** The one that was found, at the commit that it was found at. */
  readonly next: { readonly model: string; readonly revision: string | undefined };
  /** Remembers the commit as what its branch stands for: called once it fills the store. */
  adopt(): Promise<void>;
}

/** The configuration with the model that was found in that place. */
export function withFoundModel(
  spec: PipelineSpec,
  change: Pick<SpaceChange, 'model' | 'revision' | 'next'>,
): PipelineSpec {
  const models = Object.entries(spec.embed.models).map(([name, one]) => [name, exchanged(one, change)]);
  return {
    ...spec,
    embed: { ...spec.embed, models: Object.fromEntries(models) as typeof spec.embed.models },
  };
}

function exchanged(
  spec: ModelSpec,
  { model, revision, next }: Pick<SpaceChange, 'model' | 'revision' | 'next'>,
): ModelSpec {
  const isIt = (options: { readonly model: string; readonly revision?: string | undefined } | undefined) =>
    options?.model === model && options.revision === revision;
  if (isIt(spec.static)) return { static: { ...spec.static!, ...next } };
  if (isIt(spec.onnx)) return { onnx: { ...spec.onnx!, ...next } };
  return spec;
}
