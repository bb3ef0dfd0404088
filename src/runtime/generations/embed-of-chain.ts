import type { EmbedSpec } from '../../inference/model-spec.js';
import { defaultKey } from '../../inference/routing.js';
import type { ChainArtifact } from '../../pipeline/artifacts.js';

/** How a chain that filled a generation named its models: enough to ask that generation, as far as they need no secret. */
export function embedOfChain({
  chain,
  embed,
  identities,
}: ChainArtifact): Pick<EmbedSpec, 'models' | 'keys'> {
  const { keys = {} } = chain as { keys?: EmbedSpec['keys'] };
  const one = Object.keys(identities).length === 1 && defaultKey in identities;
  const { models } = embed as unknown as Pick<EmbedSpec, 'models'>;
  return one && models === undefined
    ? { models: { [defaultKey]: embed as unknown as EmbedSpec['models'][string] }, keys }
    : { models, keys };
}
