import { createServer, type ServerResponse } from 'node:http';
import type { Health } from '../health.js';
import type { Metrics } from '../metrics.js';
import { refuseAccess } from './access.js';
import { listenOn, type ListenAddress } from './listen-on.js';

export interface StatusServerOptions {
  readonly health: Pick<Health, 'state'>;
  readonly metrics: Pick<Metrics, 'page'>;
  readonly token: string | undefined;
}

export interface StatusServer {
  /** @returns the address. @throws MillraceError `config_invalid` */
  listen(address: ListenAddress): Promise<string>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/**
 * What a run tells over HTTP. `/health/live`: the process answers. `/health` and `/health/ready`: 200 while it does its
 * work, 503 with the reasons while it does not. `/metrics`: figures in the text format of Prometheus. Anybody may ask
 * whether it is well; why, and the figures, only who is let in.
 */
export function createStatusServer({ health, metrics, token }: StatusServerOptions): StatusServer {
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?');
    const refusal = refuseAccess(request.headers, token);
    if (request.method !== 'GET') return json(response, 405, { error: 'Only GET is answered here.' });
    switch (path) {
      case '/health':
      case '/health/ready': {
        const { ready, reasons } = health.state();
        return json(response, ready ? 200 : 503, {
          live: true,
          ready,
          ...(refusal === undefined && { reasons }),
        });
      }
      case '/health/live':
        return json(response, 200, { live: true });
      case '/metrics':
        if (refusal !== undefined) return json(response, refusal.status, { error: refusal.message });
        metrics.page().then(
          ({ contentType, text }) => send(response, 200, contentType, text),
          () => json(response, 500, { error: 'The figures could not be made.' }),
        );
        return;
      default:
        return json(response, 404, { error: `There is no ${path} here: /health, /health/live, /metrics.` });
    }
  });
  return {
    listen: (address) => listenOn(server, address),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  send(response, status, 'application/json', `${JSON.stringify(body)}\n`);
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
