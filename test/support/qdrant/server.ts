import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEngine } from './engine.js';
import { Refusal } from './refusal.js';
import { route } from './routes.js';

export interface QdrantOptions {
  /** Default 1.18.0. */
  readonly version?: string;
  /** Every request must carry it. */
  readonly apiKey?: string;
  /** A larger body is refused. Default 32 MiB, as the real one. */
  readonly maxBytes?: number;
  /** More connections at once are cut off. */
  readonly maxConnections?: number;
  /** Milliseconds after which an idle connection is closed. Default 5,000. */
  readonly keepAliveMs?: number;
  /** Milliseconds before an answer. */
  readonly delayMs?: number;
}

/** What goes wrong with the next requests whose method and path match. */
export interface QdrantFault {
  /** A regular expression: `PUT .*\/points$`. */
  readonly on: string;
  readonly kind:
    | 'status'
    /** The change is accepted and not completed. */
    | 'acknowledged'
    | 'wait_timeout'
    /** The connection breaks instead of an answer. */
    | 'cut'
    /** No answer, ever. */
    | 'hang';
  readonly status?: number;
  readonly retryAfter?: string;
  /** The request takes effect all the same. */
  readonly applied?: boolean;
  /** How many requests. Default 1. */
  readonly times?: number;
}

export interface QdrantCounts {
  readonly requests: number;
  readonly bytes: number;
  readonly largest: number;
  readonly mostOpen: number;
}

export interface QdrantServer {
  readonly url: string;
  fail(...faults: readonly QdrantFault[]): void;
  /** Forgets the faults that are left. */
  forgive(): void;
  counts(): QdrantCounts;
  close(): Promise<void>;
}

/** The double behind HTTP, on loopback. */
export async function serveQdrant(options: QdrantOptions = {}): Promise<QdrantServer> {
  const {
    version = '1.18.0',
    apiKey,
    maxBytes = 32 * 1024 * 1024,
    keepAliveMs = 5_000,
    delayMs = 0,
  } = options;
  const engine = createEngine();
  let faults: (QdrantFault & { left: number })[] = [];
  let [requests, bytes, largest, open, mostOpen] = [0, 0, 0, 0, 0];

  const server: Server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => (open -= 1));
    void answer(request, response);
  });
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    requests += 1;
    bytes += body.length;
    largest = Math.max(largest, body.length);
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://double');
    const method = request.method!;
    const fault = faults.find(({ on, left }) => left > 0 && new RegExp(on).test(`${method} ${path}`));
    if (fault !== undefined) fault.left -= 1;
    if (delayMs > 0) await new Promise((done) => setTimeout(done, delayMs));
    try {
      if (apiKey !== undefined && request.headers['api-key'] !== apiKey)
        throw new Refusal(401, 'Must provide an API key or an Authorization bearer token');
      if (body.length > maxBytes)
        throw new Refusal(
          400,
          `Payload error: JSON payload (${body.length} bytes) is larger than allowed (limit: ${maxBytes} bytes).`,
        );
      const takesEffect = fault === undefined || fault.applied === true;
      const result = takesEffect
        ? route(engine, version, { method, path, query, body: parsed(body) })
        : undefined;
      switch (fault?.kind) {
        case undefined:
          return send(response, 200, result);
        case 'status':
          return send(
            response,
            fault.status ?? 500,
            new Refusal(fault.status ?? 500, 'Service internal error: told to fail').data,
            fault.retryAfter,
          );
        case 'acknowledged':
        case 'wait_timeout':
          return send(response, 200, {
            result: { operation_id: 1, status: fault.kind },
            status: 'ok',
            time: 0,
          });
        case 'cut':
          response.destroy();
          return;
        case 'hang':
          return;
        default:
          fault!.kind satisfies never;
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(response, error.status, error.data);
    }
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (...next) => {
      faults = [...faults, ...next.map((fault) => ({ ...fault, left: fault.times ?? 1 }))];
    },
    forgive: () => {
      faults = [];
    },
    counts: () => ({ requests, bytes, largest, mostOpen }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Serde refuses half of a surrogate pair, which JavaScript would take. */
function parsed(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    if (JSON.stringify(value).match(/(?<!\\)(?:\\\\)*\\ud[89a-f]/) === null) return value;
  } catch {
    // Told below.
  }
  throw new Refusal(400, 'Format error in JSON body: not what JSON allows');
}

function send(response: ServerResponse, status: number, body: unknown, retryAfter?: string): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  });
  response.end(text);
}
