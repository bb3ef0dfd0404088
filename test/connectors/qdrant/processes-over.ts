import { qdrantConfig } from '../../../connectors/qdrant/config.js';
import { createPortStore } from '../../../connectors/qdrant/port-store.js';
import type { QdrantPort } from '../../../connectors/qdrant/port.js';
import type { Clock } from '../../../src/contracts/context.js';
import type { Store } from '../../../src/contracts/store.js';
import type { Engine } from '../../support/qdrant/engine.js';
import { createEnginePort } from '../../support/qdrant/engine-port.js';
import { passingTime } from './passing-time.js';

const config = qdrantConfig.parse({ url: 'http://double' });

/**
 * The processes of a pipeline over one engine, and the clock that they share: each `open` is another one, through a port of
 * its own where one is given.
 */
export function processesOver(engine: Engine, pipeline: string, clock: Clock = passingTime()) {
  const context = { pipeline, baseFolder: '/nonexistent', clock, notify: () => {} };
  const port = createEnginePort(engine);
  return { port, open: (over: QdrantPort = port): Store => createPortStore(over, config, context) };
}
