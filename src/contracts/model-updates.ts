import type { ConnectorContext } from './context.js';

/** Somebody says that there is a new model. It only names one: which models may be named, the configuration says. */
export interface ModelUpdate {
  /** A folder or hub id, written as in the configuration. */
  readonly model: string;
  /** Commit, branch or tag on the hub. */
  readonly revision?: string | undefined;
  /** SHA-256 of its weights, hex: another model than this one is refused. */
  readonly weights?: string | undefined;
}

/** A place that tells of new models. */
export interface ModelUpdates {
  /**
   * Updates as they come, until the signal aborts; an outage is waited out with notices. What cannot be understood is a
   * notice and is passed over. Updates that come while nobody listens may be lost.
   * @throws MillraceError when it can never tell anything; the signal's reason is not thrown
   */
  updates(signal: AbortSignal): AsyncIterable<ModelUpdate>;
}

export type ModelUpdatesFactory<Config> = (
  config: Config,
  context: ConnectorContext,
) => Promise<ModelUpdates>;
