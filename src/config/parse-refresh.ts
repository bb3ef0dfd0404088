import type { ChainSpec, RefreshSpec } from '../pipeline/spec.js';

/** What `refresh` names that is no model of the chain, or one that never changes. */
export function refreshProblems(
  { watch, allow }: Pick<RefreshSpec, 'watch' | 'allow'>,
  chain: ChainSpec,
): string[] {
  const known = exchangeable(chain);
  const named = [
    ...watch.map((model) => ({ path: 'refresh.watch', model })),
    ...allow.flatMap(({ replaces }, at) =>
      replaces === undefined ? [] : [{ path: `refresh.allow[${at}].replaces`, model: replaces }],
    ),
  ];
  return named
    .filter(({ model }) => !known.includes(model))
    .map(
      ({ path, model }) =>
        `${path}: ${JSON.stringify(model)} is no model of the chain that can be exchanged. Write it as in the chain: ${known.join(', ') || 'it has none'}`,
    );
}

/** Models that have files which may change, as the chain names them. */
function exchangeable({ documentSteps, chunkSteps, embed }: ChainSpec): string[] {
  const steps = [...documentSteps.flatMap(({ infer }) => infer ?? []), ...chunkSteps];
  const named = [
    ...steps
      .flatMap(({ models }) => Object.values(models))
      .map(({ onnx, transformers }) => onnx ?? transformers),
    ...Object.values(embed.models).map((model) => model.static ?? model.onnx),
  ];
  const models = named.flatMap((options) => options?.model ?? []);
  return [...new Set(models)].filter((model) => model !== 'bundled');
}
