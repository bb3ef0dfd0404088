import type { Connector } from '../../src/contracts/connector.js';
import { filesFailedConfig, filesSourceConfig } from './config.js';

/** `source: { files: … }` and `failed: { files: … }` */
export const files = {
  source: {
    schema: filesSourceConfig,
    load: async () => (await import('./source.js')).openFilesSource,
  },
  failed: {
    schema: filesFailedConfig,
    load: async () => (await import('./failed.js')).openFailedFiles,
  },
} satisfies Connector;
