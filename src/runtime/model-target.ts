import type { ModelUpdate } from '../contracts/model-updates.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Loadable } from '../inference/loadable.js';
import { openHubCache } from '../inference/models/hub-cache.js';
import { openHubClient } from '../inference/models/hub-client.js';
import { parseModelRef, type ModelRef } from '../inference/models/model-ref.js';
import type { Refresher, RefreshOutcome } from '../inference/refresh/refresher.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import type { SpaceChange } from './generations/space-change.js';

/** A model of the chain that can be exchanged while the run goes on. */
export interface ModelTarget {
  /** As the configuration names it. */
  readonly model: string;
  readonly revision: string | undefined;
  /** Where it comes from. */
  readonly ref: ModelRef;
  /** The commit that its branch stands for on the hub now. */
  commit(revision: string, signal: AbortSignal): Promise<string>;
  /** Exchanges it for another, or for what its folder or branch holds now. */
  refresh(update: ModelUpdate): Promise<RefreshOutcome>;
}

export interface ModelTargetOptions<Model> {
  readonly model: string;
  readonly revision: string | undefined;
  readonly refresher: Refresher<Model>;
  readonly spec: Pick<PipelineSpec, 'models' | 'baseFolder'>;
  /** Finds the model of this step under another name. */
  prepare(model: string, revision: string | undefined, signal: AbortSignal): Promise<Loadable<Model>>;
  /** Hears of a model that was refused for its space. Absent: it is refused, and that is all. */
  readonly onNewSpace?: ((change: SpaceChange) => void) | undefined;
}

export async function createModelTarget<Model>(options: ModelTargetOptions<Model>): Promise<ModelTarget> {
  const { model, revision, refresher, spec, prepare, onNewSpace } = options;
  const { cacheFolder, hubUrl = 'https://huggingface.co', token } = spec.models;

  async function commitOf(id: string, revision: string, signal: AbortSignal): Promise<string> {
    if (/^[0-9a-f]{40}$/.test(revision) || spec.models.offline) return revision;
    const hub = await openHubClient({
      hubUrl: hubUrl.replace(/\/+$/, ''),
      ...(token !== undefined && { token }),
    });
    return hub.commitOf(id, revision, signal);
  }

  const ref = await parseModelRef(model, revision, spec.baseFolder);
  return {
    model,
    revision,
    ref,
    commit: (revision, signal) => commitOf(ref.kind === 'hub' ? ref.id : model, revision, signal),
    async refresh(update) {
      // A folder that is gone must not be taken for a model of the hub with the same name.
      const next =
        update.model === model && update.revision === revision
          ? ref
          : await parseModelRef(update.model, update.revision, spec.baseFolder);
      const name = next.kind === 'folder' ? next.path : update.model;
      let commit: string | undefined;
      const outcome = await refresher.refresh(async (signal) => {
        commit = next.kind === 'hub' ? await commitOf(next.id, next.revision, signal) : undefined;
        const loadable = await prepare(name, commit ?? update.revision, signal);
        checkWeights(loadable, update);
        return loadable;
      });
      /** Only what serves is remembered as what the branch stands for. */
      const adopt = async (): Promise<void> => {
        if (next.kind === 'hub' && commit !== undefined && commit !== next.revision)
          await openHubCache(cacheFolder, next.id).writeRef(next.revision, commit);
      };
      if (outcome.result !== 'refused') await adopt();
      if (outcome.error?.code === 'artifact_mismatch')
        onNewSpace?.({
          ...{ model, revision, adopt },
          next: { model: update.model, revision: commit ?? update.revision },
        });
      return outcome;
    },
  };
}

function checkWeights({ name, weights }: Loadable<unknown>, update: ModelUpdate): void {
  if (update.weights === undefined || update.weights === weights) return;
  throw new MillraceError(
    'model_corrupt',
    `The weights of model ${name} have the digest ${weights?.slice(0, 12) ?? 'of no file'}, not ${update.weights.slice(0, 12)} as was asked for`,
    { hint: 'Put the model there that was meant, or correct the digest.' },
  );
}
