import { MillraceError } from '../../errors/millrace-error.js';
import { isKeyed } from '../../inference/routing.js';
import type { EmbedSpec, ModelSpec } from '../../inference/model-spec.js';
import { holdsTerms, type ChainArtifact } from '../../pipeline/artifacts.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import type { ChunkerSpec } from '../../transforms/chunk/chunker.js';
import { defaultSparse } from '../../transforms/terms/sparse-schema.js';
import { embedOfChain } from './embed-of-chain.js';

/**
 * A configuration with the models and the chunker that filled a generation. What a store cannot keep (functions, steps
 * before the chunker, keys) is as it is configured: whoever uses the result compares its chain with that of the generation.
 * @throws MillraceError `config_invalid` for a model that is code and not configured any more
 */
export function chainOfGeneration(spec: PipelineSpec, stored: ChainArtifact): PipelineSpec {
  const { models, keys } = embedOfChain(stored);
  const { chunk, route } = stored.chain as unknown as { chunk: ChunkerSpec; route?: string };
  const embed: EmbedSpec = {
    ...spec.embed,
    ...(typeof spec.embed.route !== 'function' && { route }),
    models: Object.fromEntries(
      Object.entries(models).map(([name, model]) => [name, withSecrets(name, model, spec.embed)]),
    ),
    keys,
  };
  return {
    ...spec,
    embed,
    // Where there are several models each route has its own, cut for what these models read.
    chunk: isKeyed(embed) || hasCode(chunk) ? spec.chunk : chunk,
    sparse: holdsTerms(stored) ? (spec.sparse ?? defaultSparse) : undefined,
  };
}

/** Keys and headers are not kept in a store: those of a configured model at the same address serve. */
function withSecrets(name: string, model: ModelSpec, { models }: EmbedSpec): ModelSpec {
  if (model.own !== undefined) return ownModel(name, models);
  const { openai } = model;
  if (openai === undefined) return model;
  const same = Object.values(models).find((one) => one.openai?.url === openai.url)?.openai;
  return { openai: { ...openai, apiKey: same?.apiKey, headers: same?.headers ?? {} } };
}

function ownModel(name: string, models: EmbedSpec['models']): ModelSpec {
  const configured = models[name];
  if (configured?.own !== undefined) return configured;
  throw new MillraceError('config_invalid', `The model "${name}" of that generation is code of one's own.`, {
    hint: 'Use the configuration that filled the generation.',
  });
}

/** A regular expression leaves an empty object behind in a store. */
function hasCode({ recursive }: ChunkerSpec): boolean {
  return (recursive?.separators ?? []).some(
    (one) => typeof one === 'object' && !(one instanceof RegExp) && one.pattern === undefined,
  );
}
