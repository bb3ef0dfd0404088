import type { Clock } from '../../contracts/context.js';
import { MillraceError } from '../../errors/millrace-error.js';
import type { Report } from '../../observability/events.js';
import type { Loadable } from '../loadable.js';
import type { ModelLease, ModelManager } from '../manager.js';
import type { LiveModel } from './live-model.js';
import type { Probe } from './probe.js';

export interface RefresherOptions<Model, Sample> {
  /** What the model is called in events: its name in the configuration. */
  readonly name: string;
  readonly live: LiveModel<Model>;
  /** What the live model was loaded from. */
  readonly loadable: Loadable<Model>;
  readonly manager: ModelManager;
  readonly probe: Probe<Model, Sample>;
  /** Id that labels what the model makes. */
  idOf(model: Model): string;
  readonly clock: Clock;
  readonly report: Report;
  /** Ends refreshes under way: the old model serves on. */
  readonly signal: AbortSignal;
}

/** What came of a refresh. */
export interface RefreshOutcome {
  readonly result: 'switched' | 'unchanged' | 'refused';
  /** Ids of the models before and after; equal unless switched to another. */
  readonly from: string;
  readonly to: string;
  /** Why it was refused. */
  readonly error?: MillraceError;
}

export interface Refresher<Model> {
  /**
   * Exchanges the model: the new one is loaded beside the old one, tried, and takes over between two batches. Without
   * room for both, the old one is closed first; should the new one not do, the old one is loaded again. Refreshes of one
   * model come one after the other.
   * @param prepare finds the new model; nothing is loaded by it
   * @throws the signal's reason when the run stops, never for what is wrong with the new model
   */
  refresh(prepare: (signal: AbortSignal) => Promise<Loadable<Model>>): Promise<RefreshOutcome>;
}

export function createRefresher<Model extends { close(): Promise<void> }, Sample>(
  options: RefresherOptions<Model, Sample>,
): Refresher<Model> {
  const { name, live, manager, probe, idOf, clock, report, signal } = options;
  let { loadable } = options;
  let reference: Sample | undefined;
  let first: Sample | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function exchange(
    prepare: (signal: AbortSignal) => Promise<Loadable<Model>>,
  ): Promise<'switched' | 'unchanged'> {
    const next = await prepare(signal);
    if (next.key === loadable.key) return 'unchanged';
    // Where an earlier exchange left no model at all, what the last one made still counts.
    reference = await live
      .use((model) => probe.sample(model, signal), signal)
      .catch((error: unknown) => {
        if (reference === undefined || signal.aborted) throw error;
        return reference;
      });
    const old = reference;
    const beginning = (first ??= old);
    const judged = async (lease: ModelLease<Model>) => {
      try {
        probe.judge(await probe.sample(lease.model, signal), old, beginning);
        return lease;
      } catch (error) {
        await lease.retire();
        throw error;
      }
    };
    if (manager.hasRoomFor(next)) {
      const lease = await judged(await manager.acquire(next, { signal }));
      loadable = next;
      await live.switchTo(lease);
    } else {
      if (manager.uses(loadable) > 1) throw shared(next);
      await exchangeInPlace(next, judged);
    }
    return 'switched';
  }

  async function exchangeInPlace(
    next: Loadable<Model>,
    judged: (lease: ModelLease<Model>) => Promise<ModelLease<Model>>,
  ): Promise<void> {
    let fault: unknown;
    await live.replace(async () => {
      try {
        const lease = await judged(await manager.acquire(next, { signal }));
        loadable = next;
        return lease;
      } catch (error) {
        fault = error;
        // A stop that ends the refresh still needs the old one for what is under way.
        return manager.acquire(loadable).catch((cause: unknown) => {
          throw lost(MillraceError.from(error), cause);
        });
      }
    });
    if (fault !== undefined) throw fault;
  }

  function shared(next: Loadable<Model>): MillraceError {
    return new MillraceError(
      'resources_insufficient',
      `There is no room for model ${next.name} beside the old one, which others use too`,
      { hint: 'Raise models.maxBytes or models.maxLoaded, or restart with the new model.' },
    );
  }

  function lost(refused: MillraceError, cause: unknown): MillraceError {
    return new MillraceError(
      'model_lost',
      `The new model ${name} did not do (${refused.message}), and the old one, closed to make room, could not be loaded again`,
      { cause, hint: 'Mend the files of the model and start again: whatever was under way comes again.' },
    );
  }

  async function refreshNow(
    prepare: (signal: AbortSignal) => Promise<Loadable<Model>>,
  ): Promise<RefreshOutcome> {
    const began = clock.now();
    const from = idOf(live.current);
    const outcome = await exchange(prepare).then(
      (result): RefreshOutcome => ({ result, from, to: idOf(live.current) }),
      (thrown: unknown): RefreshOutcome => {
        signal.throwIfAborted();
        return { result: 'refused', from, to: idOf(live.current), error: MillraceError.from(thrown) };
      },
    );
    report({ type: 'refresh', model: name, ...outcome, ms: clock.now() - began });
    return outcome;
  }

  return {
    refresh(prepare) {
      const turn = last.then(() => {
        signal.throwIfAborted();
        return refreshNow(prepare);
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
