import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { SpaceLayout } from '../contracts/store.js';
import { Admission } from '../flow/admission.js';
import { LaneShares } from '../flow/lane-shares.js';
import type { Stop } from '../flow/stop.js';
import type { WorkerPool } from '../inference/workers/pool.js';
import { chainDigest, describeChain, type ChainArtifact, type EmbeddingPlan } from '../pipeline/artifacts.js';
import type { Chain } from '../pipeline/document-task.js';
import { planEmbedding } from '../pipeline/plan-embedding.js';
import type { LimitsSpec, PipelineSpec } from '../pipeline/spec.js';
import { createEnrich } from '../transforms/enrich.js';
import { createInferDocuments } from '../transforms/infer/infer-documents.js';
import type { SpaceChange } from './generations/space-change.js';
import { defaultRoom } from './default-room.js';
import {
  inferIds,
  inferLanes,
  inferSteps,
  openInferModels,
  wireInfer,
  type InferModels,
} from './open-infer.js';
import { openLookups, wireLookup, type Lookups } from './open-lookups.js';
import { openPool } from './open-model.js';
import { openModels, type Models } from './open-models.js';
import type { OpenContext } from './open-parts.js';
import { embedLanes, openEmbeddings, wireRoutes } from './open-routes.js';

/** The models of a chain, loaded, and what follows from them. */
export interface OpenedChain {
  readonly pool: WorkerPool;
  readonly models: Models;
  readonly embeddings: ReadonlyMap<string, EmbeddingModel>;
  readonly inferModels: InferModels;
  readonly lookups: Lookups;
  readonly plan: EmbeddingPlan;
  readonly artifact: ChainArtifact;
  readonly spaces: readonly SpaceLayout[];
}

/** @param onNewSpace hears of models of another space that a refresh found */
export async function openChain(
  spec: PipelineSpec,
  context: OpenContext,
  stop: Stop,
  onNewSpace?: (change: SpaceChange) => void,
): Promise<OpenedChain> {
  const pool = openPool(spec, context);
  const models = openModels({ spec, pool, context, stop, onNewSpace });
  const embeddings = await openEmbeddings(spec, (model) => models.embedding(model, { fillsStore: true }));
  const inferModels = await openInferModels(spec, (model) => models.handler(model));
  const lookups = await openLookups(spec, context, stop.aborting);
  const plan = planEmbedding(spec, embeddings, context.report);
  const artifact = describeChain(spec, plan, inferIds(inferModels, spec.refresh !== undefined));
  const spaces = [...embeddings].map(([name, { identity }]) => ({ name, width: identity.width }));
  return { pool, models, embeddings, inferModels, lookups, plan, artifact, spaces };
}

export interface WiredChain {
  readonly chain: Chain;
  readonly admission: Admission;
  readonly limits: LimitsSpec & { readonly elements: number; readonly bytes: number };
}

/** Lanes, batchers and bounds around the models: what documents go through. */
export function wireChain(
  spec: PipelineSpec,
  { pool, embeddings, inferModels, lookups, plan, artifact }: OpenedChain,
  context: OpenContext,
  stop: Stop,
): WiredChain {
  const { clock, report, releasers } = context;
  const signal = stop.aborting;
  const room = defaultRoom(pool.size, [
    // What is embedded where it is chunked is bounded by its text alone.
    ...[...embeddings.values()].flatMap(({ inPlace, concurrency, batching }) =>
      inPlace ? [] : [{ concurrency, items: batching.texts }],
    ),
    ...spec.documentSteps.flatMap(({ enrich, lookup }) => {
      const step = enrich ?? lookup;
      return step === undefined ? [] : [{ concurrency: step.concurrency, items: step.batchSize }];
    }),
    ...[...inferModels.values()].flatMap((handlers) =>
      [...handlers.values()].map(({ concurrency, batching: { items } }) => ({ concurrency, items })),
    ),
  ]);
  const limits = {
    ...spec.limits,
    elements: spec.limits.elements ?? room.elements,
    bytes: spec.limits.bytes ?? room.bytes,
  };
  const admission = new Admission(limits);
  const ended = new AbortController();
  releasers.push(() => ended.abort());
  const shares = new LaneShares({
    limits,
    admission,
    groups: [embedLanes(spec), ...inferSteps(spec).map(inferLanes)],
    clock,
    signal: ended.signal,
    onStall: (lane, documents) => report({ type: 'lane-full', lane, documents }),
    onFree: (lane) => report({ type: 'lane-free', lane }),
  });
  const chain: Chain = {
    enrich: spec.documentSteps.map(({ enrich, infer, lookup }) => {
      if (lookup !== undefined) return wireLookup(lookup, lookups, context, signal);
      if (enrich !== undefined)
        return createEnrich({ ...enrich, enrich: enrich.batch, clock, signal, report });
      const step = wireInfer(infer, inferModels, shares, context, signal);
      return createInferDocuments({ name: infer.name, to: infer.to, step });
    }),
    route: wireRoutes({ spec, models: embeddings, inferModels, plan, shares, pool, context, signal }),
    keepsTerms: spec.sparse !== undefined,
    digest: chainDigest(artifact),
  };
  return { chain, admission, limits };
}
