import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Store } from '../../src/contracts/store.js';
import { createClientPort } from './client-port.js';
import type { QdrantConfig } from './config.js';
import { createPortStore } from './port-store.js';

/** `sink: { qdrant: … }` */
export async function createQdrantStore(config: QdrantConfig, context: ConnectorContext): Promise<Store> {
  const { protocol, hostname, host } = new URL(config.url);
  if (config.apiKey !== undefined && protocol === 'http:' && !isLoopback(hostname))
    context.notify({
      level: 'warn',
      code: 'store_insecure',
      message: `The API key goes to ${host} in the clear: use https://.`,
    });
  return createPortStore(createClientPort(config, context.clock), config, context);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
