import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../contracts/context.js';
import { answerEmbeddings, noSuchModel, overloaded, type Embedded } from './answer-embeddings.js';
import { ApiError } from './api-error.js';
import type { QueueBound, QueueLimits } from './queue-bound.js';
import { readBody } from './read-body.js';
import type { ServedModel } from './served-model.js';

export interface RoutesOptions {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly bound: QueueBound;
  /** Texts and bytes of one request at most. */
  readonly request: QueueLimits;
  readonly clock: Clock;
  /** What the server does now. */
  phase(): Phase;
  /** The page of `/metrics`. */
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export type Phase = 'loading' | 'ready' | 'stopping';

/** What is answered under one address. */
export interface Route {
  /** As metrics call it. */
  readonly name: string;
  /** Anybody may ask. */
  readonly open?: boolean;
  /**
   * @param gone aborts when nobody waits for the answer any more
   * @throws ApiError, MillraceError
   */
  answer(request: IncomingMessage, gone: AbortSignal): Promise<Answer>;
}

export interface Answer {
  readonly body: string;
  readonly contentType?: string;
  readonly texts?: number;
  readonly tokens?: number;
  readonly stages?: Embedded['stages'];
}

/** @returns finds the route of a method and a path; undefined where there is none */
export function createRoutes(
  options: RoutesOptions,
): (method: string | undefined, path: string) => Route | undefined {
  const { models, bound, clock, phase, metrics } = options;
  const { texts: maxTexts, bytes: maxBytes } = options.request;
  const created = Math.floor(clock.now() / 1000);

  const routes: { readonly [route: string]: Route } = {
    'POST /v1/embeddings': { name: 'embeddings', answer: embeddings },
    'GET /v1/models': {
      name: 'models',
      answer: async () => json({ object: 'list', data: [...models.keys()].map(describe) }),
    },
    'GET /health': { name: 'health', open: true, answer: health },
    'GET /health/ready': { name: 'health', open: true, answer: health },
    'GET /health/live': { name: 'health', open: true, answer: async () => json({ status: 'live' }) },
    'GET /metrics': {
      name: 'metrics',
      answer: async () => {
        const { contentType, text } = await metrics();
        return { contentType, body: text };
      },
    },
  };

  async function embeddings(request: IncomingMessage, gone: AbortSignal): Promise<Answer> {
    if (phase() === 'loading') throw notReady(1);
    const bytes = Number(request.headers['content-length'] ?? maxBytes);
    const leave = bound.enter({ bytes: Math.min(bytes, maxBytes) });
    if (leave === undefined) throw overloaded();
    try {
      const body = await readBody(request, maxBytes, gone);
      return await answerEmbeddings(body, { models, bound, maxTexts, clock, signal: gone });
    } finally {
      leave();
    }
  }

  async function health(): Promise<Answer> {
    const now = phase();
    if (now === 'stopping') throw ApiError.stopping();
    if (now === 'loading') throw notReady();
    return json({ status: 'ready' });
  }

  function describe(name: string): object {
    const model = models.get(name);
    if (model === undefined) throw noSuchModel(name, models);
    const { width, maxTokens, modelId } = model;
    return {
      id: name,
      object: 'model',
      created,
      owned_by: 'millrace',
      dimensions: width,
      max_tokens: maxTokens.document,
      identity: modelId,
    };
  }

  return (method, path) => {
    const route = routes[`${method} ${path}`];
    if (route !== undefined) return route;
    const [, name] = /^\/v1\/models\/(.+)$/.exec(path) ?? [];
    if (method !== 'GET' || name === undefined) return undefined;
    return { name: 'models', answer: async () => json(describe(decode(name))) };
  };
}

function notReady(retryAfter?: number): ApiError {
  const retry = retryAfter === undefined ? {} : { retryAfter };
  return new ApiError(503, 'not_ready', 'The models are still being loaded.', retry);
}

function json(value: object): Answer {
  return { body: JSON.stringify(value) };
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
