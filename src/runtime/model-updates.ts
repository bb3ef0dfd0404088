import type { ModelUpdate } from '../contracts/model-updates.js';
import { MillraceError } from '../errors/millrace-error.js';
import { errorPolicy } from '../flow/error-policy.js';
import { watchBranch } from '../inference/refresh/watch-branch.js';
import { watchFolder } from '../inference/refresh/watch-folder.js';
import type { RefreshOutcome } from '../inference/refresh/refresher.js';
import type { RefreshSpec } from '../pipeline/spec.js';
import type { ModelTarget } from './model-target.js';
import type { OpenContext } from './open-parts.js';

export interface ModelUpdaterOptions {
  readonly refresh: RefreshSpec;
  readonly targets: readonly ModelTarget[];
  readonly context: Pick<OpenContext, 'clock' | 'report'>;
  readonly signal: AbortSignal;
}

/** Brings news of models to the models that they are about. */
export interface ModelUpdater {
  /**
   * Exchanges each model of the chain that the update is about.
   * @throws MillraceError `config_invalid` when the configuration does not list what it names
   */
  update(update: ModelUpdate): Promise<readonly RefreshOutcome[]>;
  /** Looks at what `refresh.watch` names until the signal aborts. */
  watch(): Promise<void>;
  /**
   * Does as `update`, for each, equal ones that wait together once; what the configuration does not list is a notice.
   */
  listen(updates: AsyncIterable<ModelUpdate>): Promise<void>;
}

export function createModelUpdater({ refresh, targets, context, signal }: ModelUpdaterOptions): ModelUpdater {
  const { allow, watch, everyMs } = refresh;
  const { clock, report } = context;

  /** What an update may stand for: the models of the chain as they are named there, and those of `refresh.allow`. */
  function listed({
    model,
    revision,
    weights,
  }: ModelUpdate): { update: ModelUpdate; targets: ModelTarget[] }[] {
    const own = targets.filter(
      (target) => target.model === model && (revision === undefined || target.revision === revision),
    );
    const allowed = allow.filter(
      (entry) => entry.model === model && (revision === undefined || entry.revision === revision),
    );
    return [
      ...own.map((target) => ({ update: { model, revision: target.revision, weights }, targets: [target] })),
      ...allowed.map((entry) => {
        if (entry.weights !== undefined && weights !== undefined && entry.weights !== weights)
          throw new MillraceError(
            'config_invalid',
            `The weights of model "${model}" are listed with another digest`,
            {
              hint: 'Correct refresh.allow, or the sender.',
            },
          );
        return {
          update: { model, revision: entry.revision, weights: weights ?? entry.weights },
          targets: targets.filter((target) => target.model === (entry.replaces ?? entry.model)),
        };
      }),
    ];
  }

  async function update(news: ModelUpdate): Promise<readonly RefreshOutcome[]> {
    const found = listed(news).filter(({ targets }) => targets.length > 0);
    // An entry of `allow` says more than the chain: where both are about one model, it alone counts.
    const chosen = new Map(found.flatMap(({ update, targets }) => targets.map((target) => [target, update])));
    if (chosen.size === 0)
      throw new MillraceError(
        'config_invalid',
        `The model "${news.model}"${news.revision === undefined ? '' : ` at revision "${news.revision}"`} is not listed`,
        {
          hint: 'List it under refresh.allow, with `replaces` naming the model of the chain whose place it takes.',
        },
      );
    return Promise.all([...chosen].map(([target, update]) => target.refresh(update)));
  }

  async function updateOrTell(news: ModelUpdate): Promise<void> {
    try {
      await update(news);
    } catch (thrown) {
      if (signal.aborted) return;
      const { message, hint } = MillraceError.from(thrown);
      const said = hint === undefined ? message : `${message}. ${hint}`;
      report({ type: 'notice', level: 'warn', code: 'model_update_refused', message: said });
    }
  }

  async function watchOne(target: ModelTarget): Promise<void> {
    const { ref, model, revision } = target;
    const options = { everyMs, clock, signal };
    switch (ref.kind) {
      case 'bundled':
        return;
      case 'folder':
        for await (const _ of watchFolder(ref.path, options)) await target.refresh({ model, revision });
        return;
      case 'hub': {
        const commits = watchBranch({
          ...options,
          commitOf: (signal) => target.commit(ref.revision, signal),
          onFault: ({ message }) =>
            report({
              type: 'notice',
              level: 'warn',
              code: 'model_watch_failed',
              message: `${message}; looked at again in ${everyMs} ms.`,
            }),
        });
        for await (const { forget } of commits) {
          const { error } = await target.refresh({ model, revision });
          if (error !== undefined && errorPolicy[error.code].action === 'pause') forget();
        }
        return;
      }
      default:
        ref satisfies never;
    }
  }

  return {
    update,
    async watch() {
      await Promise.all(targets.filter(({ model }) => watch.includes(model)).map(watchOne));
    },
    async listen(updates) {
      const waiting = new Map<string, ModelUpdate>();
      let work: Promise<void> | undefined;
      const workOff = async () => {
        for (let [next] = waiting; next !== undefined && !signal.aborted; [next] = waiting) {
          const [name, news] = next;
          waiting.delete(name);
          await updateOrTell(news);
        }
        work = undefined;
      };
      try {
        for await (const news of updates) {
          const name = JSON.stringify([news.model, news.revision, news.weights]);
          // What is asked for last is what shall serve.
          waiting.delete(name);
          waiting.set(name, news);
          work ??= workOff();
        }
      } finally {
        await work;
      }
    },
  };
}
