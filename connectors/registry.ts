import type { Connector } from '../src/contracts/connector.js';
import { files } from './files/connector.js';
import { http } from './http/connector.js';
import { pglite, postgres } from './postgres/connector.js';
import { qdrant } from './qdrant/connector.js';
import { redis } from './redis/connector.js';

/** Every connector by the name that a configuration calls it. Code and drivers of a role are loaded when it is used. */
export const connectors = {
  files,
  http,
  pglite,
  postgres,
  qdrant,
  redis,
} satisfies { readonly [name: string]: Connector };
