import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { ModelHandler } from '../contracts/model-handler.js';
import type { Json } from '../elements/metadata.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Stop } from '../flow/stop.js';
import { identityDigest } from '../inference/identity.js';
import type { HandlerSpec } from '../inference/handler-spec.js';
import type { Loadable } from '../inference/loadable.js';
import { createModelManager } from '../inference/manager.js';
import type { ModelSpec } from '../inference/model-spec.js';
import { prepareHandler } from '../inference/prepare-handler.js';
import { prepareEmbeddingModel } from '../inference/prepare-model.js';
import { embeddingProbe } from '../inference/refresh/embedding-probe.js';
import { createLiveEmbeddingModel } from '../inference/refresh/live-embedding-model.js';
import { createLiveModel, type LiveModel } from '../inference/refresh/live-model.js';
import type { Probe } from '../inference/refresh/probe.js';
import { createLiveHandler } from '../inference/refresh/live-handler.js';
import { handlerProbe } from '../inference/refresh/handler-probe.js';
import { createRefresher } from '../inference/refresh/refresher.js';
import { withOwnWorkers } from '../inference/workers/own-workers.js';
import type { WorkerPool } from '../inference/workers/pool.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import type { SpaceChange } from './generations/space-change.js';
import { createModelCopies } from './model-copies.js';
import { createModelTarget, type ModelTarget } from './model-target.js';
import { loadOptions } from './open-model.js';
import type { OpenContext } from './open-parts.js';
import { createSharedCopies } from './shared-copies.js';
import type { StageFiles } from '../inference/staged-once.js';

/** The models of a run: shared, within limits, and exchanged while it goes on where the configuration asks for that. */
export interface Models {
  /** @param fillsStore its vectors go to a store: only a model of the same space may take its place */
  embedding(spec: ModelSpec, use: { readonly fillsStore: boolean }): Promise<EmbeddingModel>;
  handler(spec: HandlerSpec): Promise<ModelHandler<Json, Json>>;
  /** Those that may be exchanged. */
  readonly targets: readonly ModelTarget[];
}

export interface OpenModelsOptions {
  readonly spec: PipelineSpec;
  readonly pool: WorkerPool;
  readonly context: OpenContext;
  readonly stop: Pick<Stop, 'draining'>;
  /** Hears of models of another space that a refresh found for those that fill the store. */
  readonly onNewSpace?: ((change: SpaceChange) => void) | undefined;
}

/** What tells the kinds of models apart: how one is found, tried and named. */
interface Kind<Model, Sample> {
  /** As the configuration names it; undefined for a model that has no files. */
  readonly model: string | undefined;
  readonly revision: string | undefined;
  readonly probe: Probe<Model, Sample>;
  /** A model of another space is refused. */
  readonly fillsStore?: boolean;
  idOf(model: Model): string;
  prepare(
    model: string | undefined,
    revision: string | undefined,
    signal: AbortSignal,
    pool: WorkerPool,
    stage?: StageFiles,
  ): Promise<Loadable<Model>>;
}

export function openModels({ spec, pool, context, stop, onNewSpace }: OpenModelsOptions): Models {
  const { clock, report, releasers } = context;
  const over = new AbortController();
  /** Ends loads and exchanges that are under way. */
  const signal = AbortSignal.any([stop.draining, over.signal]);
  const { maxBytes, maxLoaded } = spec.models;
  const manager = createModelManager({
    maxBytes,
    maxModels: maxLoaded,
    clock,
    onNotice: (notice) => report({ type: 'notice', ...notice }),
  });
  const sharedCopies = createSharedCopies();
  releasers.push(() => sharedCopies.close());
  releasers.push(() => manager.close());
  const targets: ModelTarget[] = [];
  /** Several steps with one model share it, so that it is exchanged for all of them at once. */
  const lives = new Map<string, LiveModel<unknown>>();

  /** Opens a model once for all who ask for the same; what may be exchanged is live, anything else as it is. */
  async function open<Model extends { close(): Promise<void> }, Sample, Live>(
    kind: Kind<Model, Sample>,
    plain: (model: Model) => Live,
    alive: (live: LiveModel<Model>) => Live,
  ): Promise<Live> {
    // The bundled model has files that never change.
    if (spec.refresh === undefined || kind.model === undefined || kind.model === 'bundled') {
      const loadable = await kind.prepare(kind.model, kind.revision, signal, pool);
      const { model, release } = await manager.acquire(loadable, { signal });
      releasers.push(release);
      return plain(model);
    }
    const copies = createModelCopies(sharedCopies);
    // Files of the hub's cache never change; those of a folder may.
    const stage: StageFiles = async (folder, signal) =>
      folder.revision === undefined && folder.name !== 'bundled' ? copies.make(folder, signal) : folder;
    const prepare = (model: string, revision: string | undefined, signal: AbortSignal) =>
      withOwnWorkers(pool.size, (own) => kind.prepare(model, revision, signal, own, stage));
    const loadable = await prepare(kind.model, kind.revision, signal);
    const name = `${kind.model} ${kind.revision ?? ''} ${loadable.key}`;
    const known = lives.get(name);
    if (known !== undefined) return alive(known as LiveModel<Model>);
    const live = createLiveModel(await manager.acquire(loadable, { signal }));
    const refresher = createRefresher({
      name: kind.model,
      live,
      loadable,
      manager,
      probe: kind.probe,
      idOf: kind.idOf,
      clock,
      report,
      signal,
    });
    lives.set(name, live);
    releasers.push(() => {
      over.abort(new MillraceError('aborted', 'The run is over.'));
      return live.close();
    });
    const { model, revision } = kind;
    targets.push(
      await createModelTarget({
        model,
        revision,
        spec,
        prepare,
        ...(kind.fillsStore && { onNewSpace }),
        refresher: {
          async refresh(prepare) {
            const outcome = await refresher.refresh(prepare);
            await copies.settle(outcome.result === 'switched');
            return outcome;
          },
        },
      }),
    );
    return alive(live);
  }

  return {
    targets,
    handler: (model) => {
      const named = model.onnx ?? model.transformers;
      return open(
        {
          model: named?.model,
          revision: named?.revision,
          probe: handlerProbe<Json, Json>(probeItems),
          idOf: ({ modelId }) => modelId,
          prepare: (name, revision, signal, pool, stage) =>
            prepareHandler(renamedHandler(model, name, revision), {
              ...loadOptions(spec, pool, context, signal),
              stage,
            }),
        },
        (loaded) => loaded,
        createLiveHandler<Json, Json>,
      );
    },
    embedding: (model, { fillsStore }) => {
      const named = model.static ?? model.onnx;
      return open(
        {
          model: named?.model,
          revision: named?.revision,
          probe: embeddingProbe({ sameSpace: fillsStore }),
          fillsStore,
          idOf: ({ identity }) => identityDigest(identity),
          prepare: (name, revision, signal, pool, stage) =>
            prepareEmbeddingModel(renamed(model, name, revision), {
              ...loadOptions(spec, pool, context, signal),
              stage,
            }),
        },
        (loaded) => loaded,
        createLiveEmbeddingModel,
      );
    },
  };
}

/** What a model of an infer step is tried with. */
const probeItems = [
  'a',
  'The miller opens the sluice, and the wheel begins to turn.',
  '水車小屋, мельница, 🦩',
];

function renamedHandler(
  spec: HandlerSpec,
  model: string | undefined,
  revision: string | undefined,
): HandlerSpec {
  if (model === undefined) return spec;
  if (spec.onnx !== undefined) return { onnx: { ...spec.onnx, model, revision } };
  if (spec.transformers !== undefined) return { transformers: { ...spec.transformers, model, revision } };
  throw new MillraceError('internal', 'Only models that have files can be exchanged.');
}

/** The same step with another model: all its other options stay. */
function renamed(spec: ModelSpec, model: string | undefined, revision: string | undefined): ModelSpec {
  if (model === undefined) return spec;
  if (spec.static !== undefined) return { static: { ...spec.static, model, revision } };
  if (spec.onnx !== undefined) return { onnx: { ...spec.onnx, model, revision } };
  throw new MillraceError('internal', 'Only models that have files can be exchanged.');
}
