import type { Connector } from '../src/contracts/connector.js';
import { filesFailedSchema, filesSourceSchema } from './files/config.js';
import { pgliteSchema, postgresSchema } from './postgres/config.js';

/** Every connector by the name that a configuration calls it. Code and drivers of a role are loaded when it is used. */
export const connectors: { readonly [name: string]: Connector } = {
  files: {
    source: {
      schema: filesSourceSchema,
      load: async () => (await import('./files/source.js')).createFilesSource,
    },
    failed: {
      schema: filesFailedSchema,
      load: async () => (await import('./files/failed.js')).createFilesFailedStore,
    },
  },
  pglite: {
    sink: {
      schema: pgliteSchema,
      load: async () => (await import('./postgres/store.js')).createPgliteStore,
    },
  },
  postgres: {
    sink: {
      schema: postgresSchema,
      load: async () => (await import('./postgres/store.js')).createPostgresStore,
    },
  },
};
