import type { Clock, ConnectorContext, Notice } from '../../src/contracts/context.js';

export interface NotedContext extends ConnectorContext {
  readonly notices: Notice[];
}

/** A context for a connector whose notices a test can read. */
export function connectorContext(baseFolder: string, clock: Clock, pipeline = 'handbook'): NotedContext {
  const notices: Notice[] = [];
  return { pipeline, baseFolder, clock, notices, notify: (notice) => void notices.push(notice) };
}
