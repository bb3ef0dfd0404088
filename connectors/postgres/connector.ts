import type { Connector } from '../../src/contracts/connector.js';
import { cdcConfig } from './cdc/config.js';
import {
  pgliteConfig,
  postgresConfig,
  postgresFailedConfig,
  updatesConfig,
  postgresLookupConfig,
  type PostgresLookupConfig,
} from './config.js';

/** `sink: { pglite: … }` */
export const pglite = {
  sink: {
    schema: pgliteConfig,
    load: async () => (await import('./pglite-store.js')).createPgliteStore,
  },
} satisfies Connector;

/** `source`, `sink`, `failed: { postgres: … }`, `enrich: { postgres: … }`, `refresh: { events: { postgres: … } }` */
export const postgres = {
  source: {
    schema: cdcConfig,
    load: async () => (await import('./cdc/source.js')).openPostgresSource,
  },
  sink: {
    schema: postgresConfig,
    load: async () => (await import('./postgres-store.js')).createPostgresStore,
  },
  failed: {
    schema: postgresFailedConfig,
    load: async () => (await import('./failed.js')).openPostgresFailed,
  },
  lookup: {
    schema: postgresLookupConfig,
    describe: ({ query }: PostgresLookupConfig) => ({ query }),
    load: async () => (await import('./lookup.js')).openPostgresLookup,
  },
  updates: {
    schema: updatesConfig,
    load: async () => (await import('./updates.js')).createPostgresUpdates,
  },
} satisfies Connector;
