import type { Connector } from '../../src/contracts/connector.js';
import { httpLookupConfig, type HttpLookupConfig } from './config.js';

/** `enrich: { http: … }` */
export const http = {
  lookup: {
    schema: httpLookupConfig,
    // Where it is may change; what is asked for there may not.
    describe: ({ url, method, body, rows, keyField }: HttpLookupConfig) => ({
      path: url.replace(/^https?:\/\/[^/?#]+/i, ''),
      method,
      keyField,
      ...(body !== undefined && { body }),
      ...(rows !== undefined && { rows }),
    }),
    load: async () => (await import('./lookup.js')).openHttpLookup,
  },
} satisfies Connector;
