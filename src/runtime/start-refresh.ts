import type { ModelUpdate } from '../contracts/model-updates.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Stop } from '../flow/stop.js';
import type { RefreshOutcome } from '../inference/refresh/refresher.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { createModelUpdater } from './model-updates.js';
import type { Models } from './open-models.js';
import { openModelUpdates, type OpenContext } from './open-parts.js';

/** What can be asked of a run while it goes on. */
export interface RunControl {
  /**
   * Exchanges the models of the chain that the update is about, and tells what came of it.
   * @throws MillraceError `config_invalid` when the configuration does not list what it names; of the stop, once the run
   * is ending
   */
  updateModel(update: ModelUpdate): Promise<readonly RefreshOutcome[]>;
}

export interface StartRefreshOptions {
  readonly spec: PipelineSpec;
  readonly models: Models;
  readonly context: OpenContext;
  readonly stop: Pick<Stop, 'draining'>;
  readonly onControl: ((control: RunControl) => void) | undefined;
}

/**
 * Watches and listens for new models in the background of a run.
 * @returns waits until that has ended, which it does at the end of the run
 */
export async function startRefresh(options: StartRefreshOptions): Promise<() => Promise<void>> {
  const { spec, models, context, stop, onControl } = options;
  const { refresh } = spec;
  if (refresh === undefined) return async () => undefined;
  const over = new AbortController();
  const signal = AbortSignal.any([stop.draining, over.signal]);
  const updater = createModelUpdater({ refresh, targets: models.targets, context, signal });
  // Before anything is begun: where it cannot be had, nothing is left to end.
  const events = refresh.events && (await openModelUpdates(refresh.events, spec, context));
  onControl?.({ updateModel: (update) => updater.update(update) });
  const background = [updater.watch()];
  if (events !== undefined) background.push(updater.listen(events.updates(signal)));
  /** A run goes on without news of models, and says so. */
  const watched = background.map((work) =>
    work.catch((thrown: unknown) => {
      if (signal.aborted) return;
      const { message } = MillraceError.from(thrown);
      context.report({
        type: 'notice',
        level: 'warn',
        code: 'model_refresh_ended',
        message: `Models are no longer refreshed: ${message}`,
      });
    }),
  );
  return async () => {
    over.abort(new MillraceError('aborted', 'The run is over.'));
    await Promise.all(watched);
  };
}
