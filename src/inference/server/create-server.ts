import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { MillraceError } from '../../errors/millrace-error.js';
import { refuseAccess } from '../../observability/http/access.js';
import { listenOn } from '../../observability/http/listen-on.js';
import type { ServerReport } from '../../observability/server-events.js';
import { AnswersUnderWay } from './answers-under-way.js';
import { ApiError } from './api-error.js';
import { QueueBound, type QueueLimits } from './queue-bound.js';
import { createRoutes, type Answer, type Phase, type RoutesOptions } from './routes.js';

export interface InferenceServerOptions extends Pick<RoutesOptions, 'request' | 'clock' | 'metrics'> {
  /** By the name that clients ask for; it may fill after the server listens, which is ready once it is told so. */
  readonly models: RoutesOptions['models'];
  /** Asked of every request but those for health. */
  readonly token?: string | undefined;
  readonly queue: QueueLimits;
  readonly report: ServerReport;
}

export interface InferenceServer {
  /**
   * @param port 0 takes a free one
   * @returns the address, such as `http://127.0.0.1:8080`
   * @throws MillraceError `config_invalid` beyond loopback without a token, or when the address cannot be had
   */
  listen(host: string, port: number): Promise<string>;
  /** From now on `/health` says ready. */
  ready(): void;
  /** What is waiting or under way. */
  readonly load: QueueLimits;
  /** Takes nothing more and resolves when everything under way is answered, and the answers are read. */
  drain(): Promise<void>;
  /** Answers what is under way with 503, without its vectors, and cuts every connection. */
  abort(): Promise<void>;
}

/** A client may send its next request on a connection that was idle for so long. */
const keepAliveMs = 65_000;

/** An OpenAI-compatible API for embeddings over models that are loaded here. */
export function createInferenceServer(options: InferenceServerOptions): InferenceServer {
  const { token, clock, report } = options;
  const bound = new QueueBound(options.queue);
  const underWay = new AnswersUnderWay();
  let phase: Phase = 'loading';
  const routeOf = createRoutes({ ...options, bound, phase: () => phase });
  /** End the wait for answers that are not made yet. One signal would look through all its listeners at each answer. */
  const giveUps = new Set<(reason: ApiError) => void>();

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    underWay.add(respond(request, response), request, response);
  });
  // Requests that came at once on a connection all listen to it; Node takes more than ten for a leak.
  server.on('connection', (socket) => socket.setMaxListeners(0));

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = clock.now();
    const [pathname = '/'] = (request.url ?? '/').split('?');
    const route = routeOf(request.method, pathname);
    let status = 200;
    let answer: Answer | undefined;
    const gone = new AbortController();
    const { socket } = request;
    const leave = () => gone.abort();
    // Not the response: one whose turn on the connection never comes is told of nothing.
    socket.once('close', leave);
    try {
      if (route === undefined) throw unknownRoute(request.method, pathname);
      if (phase === 'stopping' && !route.open) throw ApiError.stopping();
      const refusal = route.open ? undefined : refuseAccess(request.headers, token);
      if (refusal !== undefined) throw new ApiError(refusal.status, refusal.code, refusal.message);
      const made = await unlessGivenUp(route.answer(request, gone.signal));
      gone.signal.throwIfAborted();
      send(response, status, made);
      answer = made;
    } catch (thrown) {
      const error = ApiError.of(thrown);
      status = socket.destroyed ? clientGone : error.status;
      if (status !== clientGone) send(response, status, error, error.retryAfter);
      if (status === 500)
        report({ type: 'request-failed', route: pathname, error: MillraceError.from(error.cause) });
    } finally {
      socket.off('close', leave);
      // Whatever of it still waits.
      if (answer === undefined) gone.abort();
      report({
        type: 'request',
        route: route?.name ?? 'other',
        status,
        texts: answer?.texts ?? 0,
        tokens: answer?.tokens ?? 0,
        ms: clock.now() - began,
        ...(answer?.stages !== undefined && { stages: answer.stages }),
      });
    }
  }

  function unlessGivenUp<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      giveUps.add(reject);
      work.then(resolve, reject).finally(() => giveUps.delete(reject));
    });
  }

  function send(
    response: ServerResponse,
    status: number,
    { body, contentType = 'application/json' }: Answer,
    retryAfter?: number,
  ): void {
    const headers: OutgoingHttpHeaders = {
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
    };
    // It would cut off the answers that are still to come on this connection.
    if (phase === 'stopping' && underWay.isLastOn(response.req.socket)) headers.connection = 'close';
    if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
    response.writeHead(status, headers);
    response.end(body);
  }

  return {
    listen: (host, port) => listenOn(server, { host, port, token }),
    ready() {
      if (phase === 'loading') phase = 'ready';
    },
    get load() {
      return bound.load;
    },
    async drain() {
      phase = 'stopping';
      // HTTP's own close, and what it calls idle, cut off answers that are written and not yet read.
      NetServer.prototype.close.call(server);
      await underWay.settled();
      server.closeIdleConnections();
    },
    async abort() {
      phase = 'stopping';
      NetServer.prototype.close.call(server);
      for (const giveUp of giveUps) giveUp(ApiError.stopping());
      // The answers that this makes are written before their connections are cut.
      await new Promise((written) => setImmediate(written));
      server.closeAllConnections();
      server.close();
      await underWay.settled();
    },
  };
}

/** As others note a client that left before its answer. */
const clientGone = 499;

function unknownRoute(method: string | undefined, path: string): ApiError {
  return new ApiError(
    404,
    'unknown_url',
    `There is no ${method} ${path} here. Clients of OpenAI's API use POST /v1/embeddings and GET /v1/models: their base URL ends in /v1.`,
  );
}
