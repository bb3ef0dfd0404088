import type { Connector } from '../../src/contracts/connector.js';
import { pgliteConfig, postgresConfig, updatesConfig } from './config.js';

/** `sink: { pglite: … }` */
export const pglite: Connector = {
  sink: {
    schema: pgliteConfig,
    load: async () => (await import('./pglite-store.js')).createPgliteStore,
  },
};

/** `sink: { postgres: … }`, `refresh: { events: { postgres: … } }` */
export const postgres: Connector = {
  sink: {
    schema: postgresConfig,
    load: async () => (await import('./postgres-store.js')).createPostgresStore,
  },
  updates: {
    schema: updatesConfig,
    load: async () => (await import('./updates.js')).createPostgresUpdates,
  },
};
