import type { Connector } from '../../src/contracts/connector.js';
import { qdrantConfig } from './config.js';

/** `sink: { qdrant: … }` */
export const qdrant = {
  sink: {
    schema: qdrantConfig,
    load: async () => (await import('./qdrant-store.js')).createQdrantStore,
  },
} satisfies Connector;
