import type { ChainSpec, DocumentStepSpec, InferSpec } from '../pipeline/spec.js';
import { embedRoutes } from '../inference/model-spec.js';
import { routed } from '../inference/routed-spec.js';
import type { InferStepInput } from './infer-schema.js';
import { enrichStepSpec } from './parse-enrich.js';
import type { Connectors, PipelineOutput } from './schema.js';

type Steps = PipelineOutput['chain'];

/** What is wrong with the order of the steps, and with steps that stand where they cannot do what they are asked. */
export function chainProblems(chain: Steps): string[] {
  const steps = chain.map((step) => Object.keys(step)[0]);
  if (!/^((enrich|infer),)*chunk,(infer,)*(sparse,)?embed$/.test(steps.join(',')))
    return [
      `chain: expected any number of enrich and infer steps, one chunk, any number of infer steps, perhaps one sparse, one embed; got ${steps.join(', ') || 'no step'}`,
    ];
  const chunk = steps.indexOf('chunk');
  return chain.flatMap((step, at) => {
    if (!('infer' in step)) return [];
    const { to } = step.infer;
    if (to === 'text' && at > chunk)
      return [
        `chain[${at}].infer.to: after chunk the text is fixed; write context, or a place in the metadata`,
      ];
    if (to === 'context' && at < chunk)
      return [`chain[${at}].infer.to: context is for chunks; move the step after chunk, or write text`];
    return [];
  });
}

/** @param chain without problems */
export function chainSpec(chain: Steps, connectors: Connectors): ChainSpec {
  const chunkAt = chain.findIndex((step) => 'chunk' in step);
  return {
    documentSteps: chain.slice(0, chunkAt).flatMap((step): DocumentStepSpec[] => {
      if ('infer' in step) return [{ infer: inferSpec(step.infer) }];
      return 'enrich' in step ? [enrichStepSpec(step.enrich, connectors)] : [];
    }),
    chunk: chain.flatMap((step) => ('chunk' in step ? [step.chunk] : []))[0]!,
    chunkSteps: chain.slice(chunkAt).flatMap((step) => ('infer' in step ? [inferSpec(step.infer)] : [])),
    sparse: chain.flatMap((step) => ('sparse' in step ? [step.sparse] : []))[0],
    embed: chain.flatMap((step) => ('embed' in step ? [embedRoutes(step.embed)] : []))[0]!,
  };
}

function inferSpec({ route, keys, models, model, ...step }: InferStepInput): InferSpec {
  return { ...step, ...routed({ route, keys, models }, model!) };
}
