import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** What becomes of a request. */
export type EndpointAnswer =
  | { readonly kind: 'json'; readonly value: unknown; readonly status?: number; readonly retryAfter?: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  /** Text without end. */
  | { readonly kind: 'endless' }
  /** No answer, ever. */
  | { readonly kind: 'hang' }
  /** The connection breaks in the middle of the answer. */
  | { readonly kind: 'cut' };

export interface EndpointRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** JSON of a POST. */
  readonly body: unknown;
}

export interface LookupEndpoint {
  readonly origin: string;
  readonly requests: readonly EndpointRequest[];
  /** Requests that the caller cut off before they were answered. */
  readonly aborted: number;
  /** Bytes that were written of endless answers. */
  readonly sent: number;
  /** Most requests that were open at once. */
  readonly mostOpen: number;
  close(): Promise<void>;
}

/**
 * An HTTP service on loopback that a test answers for. It is strict: a body that is not the JSON which its headers announce,
 * a path that is not in its normal form, or a method that look-ups do not use, is refused with 400.
 */
export async function startLookupEndpoint(
  answer: (request: EndpointRequest) => EndpointAnswer | Promise<EndpointAnswer>,
): Promise<LookupEndpoint> {
  const requests: EndpointRequest[] = [];
  let [aborted, sent, open, mostOpen] = [0, 0, 0, 0];
  const server = createServer((request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.on('close', () => {
      open -= 1;
      if (!response.writableFinished) aborted += 1;
    });
    void serve(request, response);
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const told = await read(request);
    if (told === undefined) return end(response, 400, '{"error":"not a request of a look-up"}');
    requests.push(told);
    const given = await answer(told);
    switch (given.kind) {
      case 'json':
        if (given.retryAfter !== undefined) response.setHeader('retry-after', given.retryAfter);
        return end(response, given.status ?? 200, JSON.stringify(given.value));
      case 'text':
        return end(response, 200, given.text);
      case 'redirect':
        response.setHeader('location', given.location);
        return end(response, given.status ?? 302, '');
      case 'endless':
        response.writeHead(200, { 'content-type': 'application/json' });
        Readable.from(blanks()).pipe(response);
        return;
      case 'hang':
        return;
      case 'cut':
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"name":');
        setImmediate(() => response.destroy());
        return;
      default:
        given satisfies never;
    }
  }

  function* blanks(): Generator<string> {
    while (sent < 50e6) {
      sent += 65_536;
      yield ' '.repeat(65_536);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get aborted() {
      return aborted;
    },
    get sent() {
      return sent;
    },
    get mostOpen() {
      return mostOpen;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function read(request: IncomingMessage): Promise<EndpointRequest | undefined> {
  const { method = '', url = '', headers } = request;
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const text = Buffer.concat(parts).toString('utf8');
  const normal = new URL(url, 'http://h');
  if (normal.pathname + normal.search !== url) return undefined;
  if (method === 'GET') return text === '' ? { method, path: url, headers, body: undefined } : undefined;
  if (method !== 'POST' || headers['content-type'] !== 'application/json') return undefined;
  try {
    return { method, path: url, headers, body: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
