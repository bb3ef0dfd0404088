import { createHash } from 'node:crypto';
import type { ModelIdentity } from '../contracts/embedding-model.js';
import { canonicalJson } from '../elements/canonical-json.js';
import type { Json } from '../elements/metadata.js';

/** What decides the space: names and revisions only say where the weights came from. */
function decisive({ weights, tokenizer, pooling, normalize, prompts, width, dtype }: ModelIdentity) {
  const { document, query } = prompts;
  return {
    weights,
    tokenizer,
    pooling,
    normalize,
    'document prompt': document,
    'query prompt': query,
    width,
    dtype,
  } satisfies Record<string, Json>;
}

/** The first 128 bits of the SHA-256 of all that decides a model's space, as 32 hex characters. */
export function identityDigest(identity: ModelIdentity): string {
  return createHash('sha256')
    .update(canonicalJson(decisive(identity)))
    .digest('hex')
    .slice(0, 32);
}

/**
 * What differs between two identities, for a message: `width (stored 384, now 256); dtype (stored "fp32", now "int8")`.
 * Empty when they share a space.
 */
export function describeDifference(stored: ModelIdentity, now: ModelIdentity): string {
  const before = decisive(stored);
  const after = decisive(now);
  return (Object.keys(before) as (keyof typeof before)[])
    .filter((key) => before[key] !== after[key])
    .map((key) => `${key} (stored ${shown(before[key])}, now ${shown(after[key])})`)
    .join('; ');
}

/** Digests are cut to what people compare. */
function shown(value: string | number | boolean): string {
  if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return value.slice(0, 12);
  return JSON.stringify(value);
}
