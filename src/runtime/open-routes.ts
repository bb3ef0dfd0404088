import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { systemChance } from '../flow/chance.js';
import { Gate } from '../flow/gate.js';
import type { LaneShares } from '../flow/lane-shares.js';
import { identityDigest } from '../inference/identity.js';
import type { ModelSpec } from '../inference/model-spec.js';
import { createRouter, isKeyed, routeName } from '../inference/routing.js';
import type { WorkerPool } from '../inference/workers/pool.js';
import type { EmbeddingPlan, RoutePlan } from '../pipeline/artifacts.js';
import type { Chain } from '../pipeline/document-task.js';
import type { EmbedLane, Route } from '../pipeline/route.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { createChunker } from '../transforms/chunk/pooled-chunker.js';
import { createEmbedder } from '../transforms/embed.js';
import { createContextFitter } from '../transforms/infer/context-fitter.js';
import { createInferChunks } from '../transforms/infer/infer-chunks.js';
import { wireInfer, type InferModels } from './open-infer.js';
import type { OpenContext } from './open-parts.js';

/** The embedding models of a pipeline by name, opened. @param open opens one of them, and sees to its end */
export async function openEmbeddings(
  spec: { readonly embed: Pick<PipelineSpec['embed'], 'models'> },
  open: (model: ModelSpec) => Promise<EmbeddingModel>,
): Promise<ReadonlyMap<string, EmbeddingModel>> {
  const models = new Map<string, EmbeddingModel>();
  for (const [name, model] of Object.entries(spec.embed.models)) models.set(name, await open(model));
  return models;
}

export interface RouteParts {
  readonly spec: PipelineSpec;
  readonly models: ReadonlyMap<string, EmbeddingModel>;
  readonly inferModels: InferModels;
  readonly plan: EmbeddingPlan;
  readonly shares: LaneShares;
  readonly pool: WorkerPool;
  readonly context: OpenContext;
  readonly signal: AbortSignal;
}

/** Text under way to the models for each worker, in UTF-16 code units: some large batches, so that none is ever idle. */
const unitsAWorker = 512 * 1024;

/** Wires a lane to each model, and what comes before it to each route. */
export function wireRoutes(parts: RouteParts): Chain['route'] {
  const { spec, models, plan, pool, context, signal } = parts;
  const { clock, report } = context;
  const embedders = new Map(
    [...models].map(([name, model]) => {
      const lane = laneName(spec, name, model);
      const embedder = createEmbedder({
        model,
        lane,
        role: 'document',
        clock,
        chance: systemChance,
        signal,
        report,
      });
      // A slow lane must not take the room of the others.
      return [name, { embedder, room: new Gate(pool.size * unitsAWorker, signal) }] as const;
    }),
  );
  const chunkSteps = spec.chunkSteps.map((step) => ({
    spec: step,
    wired: wireInfer(step, parts.inferModels, parts.shares, context, signal),
  }));
  const routes = new Map(plan.routes.map((one) => [routeName(one.models), wire(one)]));
  const router = createRouter({ ...spec.embed, models: [...models.keys()] });
  const [only] = routes.values();
  if (routes.size === 1 && spec.embed.route === undefined) return () => only!;
  return (document) => routes.get(routeName(router(document)))!;

  function wire({ models: names, chunker: chunkerSpec, measures, maxTokens }: RoutePlan): Route {
    const [tokenizer, ...others] = measures;
    const readers = names.map((name) => models.get(name)!);
    const [first] = readers;
    const { inPlace, identity } = first!;
    const atOnce = names.length === 1 && inPlace !== undefined;
    const chunker = createChunker({
      chunker: chunkerSpec,
      tokenizer,
      others,
      model: atOnce
        ? { ref: inPlace, name: laneName(spec, names[0]!, first!), width: identity.width }
        : undefined,
      ...{ pool, clock, signal, report },
    });
    const lanes = names.map((space, at): EmbedLane => {
      const { identity: own, tokenizer: ownTokenizer } = readers[at]!;
      return {
        space,
        width: own.width,
        model: identityDigest(own),
        takesIds: names.length === 1 || ('digest' in tokenizer && ownTokenizer?.digest === tokenizer.digest),
        embed: (texts) => embedders.get(space)!.embedder.embedAll(texts),
      };
    });
    // Always in the same order: two documents that each hold the room of one lane must not wait for each other's.
    const ordered = [...names].sort();
    const lanesOf = ordered.map((name) => laneName(spec, name, models.get(name)!));
    const rooms = ordered.map((name) => embedders.get(name)!.room);
    const enter = <T>(units: number, work: () => Promise<T>): Promise<T> =>
      rooms.reduceRight((inner, room) => () => room.run(units, inner), work)();
    return {
      name: routeName(names),
      chunker,
      inferChunks: chunkSteps.map(({ spec: step, wired }) =>
        createInferChunks({
          to: step.to,
          step: wired,
          fit: createContextFitter({
            measures,
            maxTokens,
            contextTokens: step.maxTokens,
            ...{ pool, clock, signal, report },
          }),
        }),
      ),
      lanes,
      run: isKeyed(spec.embed)
        ? (units, work, documents) =>
            parts.shares.run(lanesOf, units * 2, () => enter(units, work), documents)
        : enter,
    };
  }
}

/** The lanes of the models of a pipeline, where there are several. */
export function embedLanes({ embed }: PipelineSpec): readonly string[] {
  return isKeyed(embed) ? Object.keys(embed.models).map(keyedLane) : [];
}

function keyedLane(name: string): string {
  return `embed:${name}`;
}

/** A lane is called by its model's name in the configuration where there are several, else by the model's own. */
function laneName({ embed }: PipelineSpec, name: string, { identity }: EmbeddingModel): string {
  return isKeyed(embed) ? keyedLane(name) : identity.name;
}
