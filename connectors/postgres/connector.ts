import type { Connector } from '../../src/contracts/connector.js';
import { cdcConfig } from './cdc/config.js';
import { pgliteConfig, postgresConfig, updatesConfig } from './config.js';

/** `sink: { pglite: … }` */
export const pglite: Connector = {
  sink: {
    schema: pgliteConfig,
    load: async () => (await import('./pglite-store.js')).createPgliteStore,
  },
};

/** `source: { postgres: … }`, `sink: { postgres: … }`, `refresh: { events: { postgres: … } }` */
export const postgres: Connector = {
  source: {
    schema: cdcConfig,
    load: async () => (await import('./cdc/source.js')).openPostgresSource,
  },
  sink: {
    schema: postgresConfig,
    load: async () => (await import('./postgres-store.js')).createPostgresStore,
  },
  updates: {
    schema: updatesConfig,
    load: async () => (await import('./updates.js')).createPostgresUpdates,
  },
};
