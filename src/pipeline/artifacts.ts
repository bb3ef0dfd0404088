import { createHash } from 'node:crypto';
import type { Artifacts } from '../contracts/artifacts.js';
import type { ByteMeasure, ModelIdentity, TokenizerRef } from '../contracts/embedding-model.js';
import { canonicalJson } from '../elements/canonical-json.js';
import type { Json } from '../elements/metadata.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { StoreCount } from '../contracts/store.js';
import { identityDigest } from '../inference/identity.js';
import { differences } from './differences.js';
import type { InferSpec, PipelineSpec } from './spec.js';
import type { ChunkerSpec } from '../transforms/chunk/chunker.js';

/** What a filled store remembers of the chain that filled it. */
export interface ChainArtifact {
  readonly format: 1;
  /** Everything that decides what the chain makes of a document. */
  readonly chain: Json;
  readonly identity: ModelIdentity;
  /** How the model was named in the configuration, so that a reader can load it without one. */
  readonly embed: Json;
}

/** For each infer step the `modelId` of each of its models, by name. */
export type InferIds = ReadonlyMap<InferSpec, { readonly [model: string]: string }>;

const artifactName = 'chain';

/**
 * @param chunker with every default filled in, so that a later default is no change of the chain
 * @param inferIds `modelId`s of the models of each infer step, by their names
 */
export function describeChain(
  spec: PipelineSpec,
  chunker: ChunkerSpec,
  measure: TokenizerRef | ByteMeasure,
  identity: ModelIdentity,
  inferIds: InferIds,
): ChainArtifact {
  const { documentSteps, chunkSteps } = spec;
  return {
    format: 1,
    chain: {
      enrich: documentSteps.map((step) =>
        step.infer === undefined
          ? { name: step.enrich.name, version: step.enrich.version }
          : describeInfer(step.infer, inferIds),
      ),
      chunk: asJson(chunker),
      ...chunkMeasure(measure, identity),
      // Absent where there is none: a store of before there were such steps has the same digest.
      ...(chunkSteps.length > 0 && { infer: chunkSteps.map((step) => describeInfer(step, inferIds)) }),
      model: identityDigest(identity),
    },
    identity,
    embed: withoutSecrets(spec.embed),
  };
}

function describeInfer(step: InferSpec, inferIds: InferIds): Json {
  const { name, version, field, to, route, keys, preprocess, postprocess, maxTokens } = step;
  return asJson({
    infer: name,
    version,
    field,
    to,
    models: inferIds.get(step),
    // Of functions only the version is known.
    ...(route !== undefined && { route: typeof route === 'string' ? route : 'function' }),
    ...(Object.keys(keys).length > 0 && { keys }),
    hooks: [...(preprocess ? ['preprocess'] : []), ...(postprocess ? ['postprocess'] : [])],
    ...(to === 'context' && { maxTokens }),
  });
}

/** Digest of the settings that affect what is stored. Two writers with equal digests make equal chunks. */
export function chainDigest({ chain }: ChainArtifact): string {
  return createHash('sha256').update(canonicalJson(chain)).digest('hex').slice(0, 32);
}

export async function readChain(artifacts: Artifacts): Promise<ChainArtifact | undefined> {
  return (await artifacts.read(artifactName)) as unknown as ChainArtifact | undefined;
}

/**
 * Puts the chain beside the data, or checks it against the one that is there.
 * @throws MillraceError `artifact_mismatch` that says what differs and what a rebuild would cost
 */
export async function agreeOnChain(
  artifacts: Artifacts,
  ours: ChainArtifact,
  count: () => Promise<StoreCount>,
): Promise<void> {
  const stored = (await artifacts.insert(artifactName, asJson(ours))) as unknown as ChainArtifact;
  if (chainDigest(stored) === chainDigest(ours)) return;
  agreesWith(stored, ours, await count());
}

/** @throws MillraceError `artifact_mismatch` unless two chains make equal chunks */
export function agreesWith(stored: ChainArtifact, ours: ChainArtifact, held?: StoreCount): void {
  if (chainDigest(stored) === chainDigest(ours)) return;
  const changed = [
    ...differences(stored.chain, ours.chain),
    ...differences(asJson(stored.identity), asJson(ours.identity), 'model'),
  ];
  const cost =
    held === undefined
      ? ''
      : `: ${held.documents} documents with ${held.chunks} chunks would be embedded anew`;
  throw new MillraceError(
    'artifact_mismatch',
    `The store was filled by another chain:\n${changed.map((line) => `  ${line}`).join('\n')}`,
    { hint: `Set these back, or fill a new store (another sink path, schema or pipeline name)${cost}.` },
  );
}

/** A local model's identity holds its tokenizer already. */
function chunkMeasure(
  measure: TokenizerRef | ByteMeasure,
  { tokenizer }: ModelIdentity,
): { measure?: string } {
  if ('bytesPerToken' in measure) return { measure: `${measure.bytesPerToken} bytes a token` };
  return measure.digest === tokenizer ? {} : { measure: measure.digest };
}

/** The store is read by others than those who may use the key. */
function withoutSecrets({ openai, ...local }: PipelineSpec['embed']): Json {
  if (openai === undefined) return asJson(local);
  const { apiKey: _key, headers: _headers, ...told } = openai;
  return asJson({ openai: told });
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
