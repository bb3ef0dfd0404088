import { counted } from '../elements/counted.js';
import { createHash } from 'node:crypto';
import type { Artifacts } from '../contracts/artifacts.js';
import type { ByteMeasure, ModelIdentity, TokenizerRef } from '../contracts/embedding-model.js';
import { canonicalJson } from '../elements/canonical-json.js';
import { isJsonObject } from '../elements/json-fields.js';
import type { Json } from '../elements/metadata.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { StoreCount } from '../contracts/store.js';
import { identityDigest } from '../inference/identity.js';
import type { ModelSpec } from '../inference/model-spec.js';
import { defaultKey, isKeyed, routeName } from '../inference/routing.js';
import { termRule } from '../transforms/terms/count-terms.js';
import { differences } from './differences.js';
import type { InferSpec, LookupSpec, PipelineSpec } from './spec.js';
import type { ChunkerSpec } from '../transforms/chunk/chunker.js';

/** What a filled store remembers of the chain that filled it. */
export interface ChainArtifact {
  readonly format: 2;
  /** Everything that decides what the chain makes of a document. */
  readonly chain: Json;
  /** Of the model of each space. */
  readonly identities: { readonly [space: string]: ModelIdentity };
  /** How the models were named in the configuration. */
  readonly embed: Json;
}

/** How documents of one route are chunked. */
export interface RoutePlan {
  /** Of its models. */
  readonly models: readonly string[];
  /** With every default filled in, so that a later default is no change of the chain, and within what the models read. */
  readonly chunker: ChunkerSpec;
  /** What chunks are measured with; a chunk fits by each of them. */
  readonly measures: readonly [TokenizerRef | ByteMeasure, ...(TokenizerRef | ByteMeasure)[]];
  /** What the smallest of the models reads, in tokens of the measures. */
  readonly maxTokens: number;
}

/** The embedding of a pipeline, as far as its models say. */
export interface EmbeddingPlan {
  readonly routes: readonly RoutePlan[];
  readonly identities: ChainArtifact['identities'];
}

/** For each infer step the `modelId` of each of its models, by name. */
export type InferIds = ReadonlyMap<InferSpec, { readonly [model: string]: string }>;

const artifactName = 'chain';

/** @param inferIds `modelId`s of the models of each infer step, by their names */
export function describeChain(spec: PipelineSpec, plan: EmbeddingPlan, inferIds: InferIds): ChainArtifact {
  const { documentSteps, chunkSteps } = spec;
  return {
    format: 2,
    chain: {
      enrich: documentSteps.map(({ enrich, infer, lookup }) =>
        enrich !== undefined
          ? { name: enrich.name, version: enrich.version }
          : infer !== undefined
            ? describeInfer(infer, inferIds)
            : describeLookup(lookup),
      ),
      // Absent where there is none: a store of before there were such steps has the same digest.
      ...(chunkSteps.length > 0 && { infer: chunkSteps.map((step) => describeInfer(step, inferIds)) }),
      ...(spec.sparse !== undefined && { sparse: termRule }),
      ...describeEmbedding(spec, plan),
    },
    identities: plan.identities,
    embed: describeModels(spec.embed),
  };
}

/** One model is described as it was when there could be no more than one. */
function describeEmbedding({ embed }: PipelineSpec, { routes, identities }: EmbeddingPlan) {
  if (!isKeyed(embed)) {
    const [{ chunker, measures }] = routes as readonly [RoutePlan];
    const identity = identities[defaultKey]!;
    return {
      chunk: asJson(chunker),
      ...chunkMeasure(measures[0], identity),
      model: identityDigest(identity),
    };
  }
  const { route, version, keys } = embed;
  return {
    chunk: Object.fromEntries(
      routes.map(({ models, chunker, measures }) => {
        const how = { ...chunker, measures: measures.map(measureName) };
        return [routeName(models), asJson(how)];
      }),
    ),
    models: Object.fromEntries(
      Object.entries(identities).map(([name, identity]) => [name, identityDigest(identity)]),
    ),
    // Of a function only the version is known.
    ...(route !== undefined && { route: typeof route === 'string' ? route : `function ${version}` }),
    ...(Object.keys(keys).length > 0 && { keys: asJson(keys) }),
  };
}

/** What decides what a look-up makes of a document; when and how often it is asked does not. */
function describeLookup(step: LookupSpec): Json {
  const { from, describes, key, fields, join, into, missing, template, metadata, version } = step;
  return asJson({
    lookup: from.connector,
    ...(describes as object),
    key,
    fields,
    // Of a function only the version is known.
    join: typeof join === 'function' ? `function ${version}` : join,
    into,
    missing,
    template,
    metadata,
  });
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

/** The store holds the words of its chunks, as a search by words would split a question now. */
export function holdsTerms({ chain }: ChainArtifact): boolean {
  return isJsonObject(chain) && chain['sparse'] === termRule;
}

/** Digest of the settings that affect what is stored. Two writers with equal digests make equal chunks. */
export function chainDigest({ chain }: ChainArtifact): string {
  return createHash('sha256').update(canonicalJson(chain)).digest('hex').slice(0, 32);
}

export async function readChain(artifacts: Artifacts): Promise<ChainArtifact | undefined> {
  const found = await artifacts.read(artifactName);
  return found === undefined ? undefined : readArtifact(found);
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
  const stored = readArtifact(await artifacts.insert(artifactName, asJson(ours)));
  if (chainDigest(stored) === chainDigest(ours)) return;
  agreesWith(stored, ours, { hint: hintOf(await count()) });
}

/** What to say where chains differ: of what was filled, and how to mend it. */
export interface MismatchWords {
  readonly subject?: string;
  readonly hint?: string;
}

/** @throws MillraceError `artifact_mismatch` unless two chains make equal chunks */
export function agreesWith(
  stored: ChainArtifact,
  ours: ChainArtifact,
  { subject = 'The store', hint = hintOf() }: MismatchWords = {},
): void {
  if (chainDigest(stored) === chainDigest(ours)) return;
  const changed = [
    ...differences(stored.chain, ours.chain),
    ...modelDifferences(stored.identities, ours.identities),
  ];
  throw new MillraceError(
    'artifact_mismatch',
    `${subject} was filled by another chain:\n${changed.map((line) => `  ${line}`).join('\n')}`,
    { hint },
  );
}

/** @param held what would be made anew */
export function hintOf(held?: StoreCount): string {
  const cost =
    held === undefined
      ? ''
      : `: ${counted(held.documents, 'document')} with ${counted(held.chunks, 'chunk')} would be embedded anew`;
  return `Set these back, fill a new generation (\`millrace generations start\`), or fill a new store (another sink path, schema or pipeline name)${cost}.`;
}

/** An artifact of before there were several spaces has one identity. */
function readArtifact(found: Json): ChainArtifact {
  const artifact = found as unknown as ChainArtifact | OneModelArtifact;
  if (artifact.format !== 1) return artifact;
  const { chain, identity, embed } = artifact;
  return { format: 2, chain, identities: { [defaultKey]: identity }, embed };
}

interface OneModelArtifact {
  readonly format: 1;
  readonly chain: Json;
  readonly identity: ModelIdentity;
  readonly embed: Json;
}

function modelDifferences(stored: ChainArtifact['identities'], ours: ChainArtifact['identities']): string[] {
  return [...new Set([...Object.keys(stored), ...Object.keys(ours)])].sort().flatMap((space) => {
    const name = space === defaultKey ? 'model' : `model of ${space}`;
    const before = stored[space];
    const after = ours[space];
    return differences(before && asJson(before), after && asJson(after), name);
  });
}

/** A local model's identity holds its tokenizer already. */
function chunkMeasure(
  measure: TokenizerRef | ByteMeasure,
  { tokenizer }: ModelIdentity,
): { measure?: string } {
  const name = measureName(measure);
  return name === tokenizer ? {} : { measure: name };
}

function measureName(measure: TokenizerRef | ByteMeasure): string {
  return 'bytesPerToken' in measure ? `${measure.bytesPerToken} bytes a token` : measure.digest;
}

/** Of one model as it is, of several by name. The store is read by others than those who may use the keys. */
function describeModels(embed: PipelineSpec['embed']): Json {
  const models = Object.entries(embed.models).map(([name, model]) => [name, withoutSecrets(model)] as const);
  return isKeyed(embed) ? { models: Object.fromEntries(models) } : models[0]![1];
}

function withoutSecrets({ openai, ...local }: ModelSpec): Json {
  if (openai === undefined) return asJson(local);
  const { apiKey: _key, headers: _headers, ...told } = openai;
  return asJson({ openai: told });
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
