import type { ConnectorContext } from './context.js';
import type { ModelUpdate } from '../elements/model-update.js';

export type { ModelUpdate };

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
