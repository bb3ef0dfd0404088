import type { Connector } from '../../src/contracts/connector.js';
import { pgliteConfig, postgresConfig } from './config.js';

/** `sink: { pglite: … }` */
export const pglite: Connector = {
  sink: {
    schema: pgliteConfig,
    load: async () => (await import('./pglite-store.js')).createPgliteStore,
  },
};

/** `sink: { postgres: … }` */
export const postgres: Connector = {
  sink: {
    schema: postgresConfig,
    load: async () => (await import('./postgres-store.js')).createPostgresStore,
  },
};
