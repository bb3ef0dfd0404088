import { QdrantClient } from '@qdrant/js-client-rest';
import type { Clock } from '../../src/contracts/context.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { QdrantConfig } from './config.js';
import { createGate } from './gate.js';
import type {
  CollectionState,
  FieldIndex,
  NamedVectors,
  Payload,
  PointRecord,
  QdrantPort,
  ScoredPoint,
} from './port.js';
import { classifyQdrantError, isAnswer } from './qdrant-error.js';
import { termsVector } from './term-weights.js';

/** After a call whose effect is unknown, where to make it twice is harmless. */
const retryDelaysMs = [100, 1000];

/** Qdrant over its official client. */
export function createClientPort(config: QdrantConfig, clock: Clock): QdrantPort {
  const url = new URL(config.url);
  const api = new QdrantClient({
    url: url.origin,
    port: explicitPort(config.url) ?? 6333,
    prefix: url.pathname.replace(/\/+$/, ''),
    // As `apiKey` it would be warned of on the console.
    ...(config.apiKey !== undefined && { headers: { 'api-key': config.apiKey } }),
    // Ours: the client knows no signal.
    timeout: Number.POSITIVE_INFINITY,
    maxConnections: config.connections,
    checkCompatibility: false,
  }).api();
  const gate = createGate(config.connections);
  const where = `Qdrant at ${url.host}`;

  /** One request, within its time. */
  async function once<T>(
    request: (init: { signal: AbortSignal }) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const over = new AbortController();
    const abort = () => over.abort(signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(
      () =>
        over.abort(
          new MillraceError(
            'store_unavailable',
            `${where} gave no answer within ${config.timeout} seconds.`,
            {
              hint: '`timeout` is how long one request may take, `maxRequestMb` how large it may be.',
            },
          ),
        ),
      config.timeout * 1000,
    );
    try {
      return await request({ signal: over.signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async function call<T>(
    request: (init: { signal: AbortSignal }) => Promise<{ readonly data: { readonly result?: T } }>,
    signal?: AbortSignal,
    delaysMs: readonly number[] = retryDelaysMs,
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        const { data } = await gate(() => once(request, signal));
        if (data.result === undefined)
          throw new MillraceError('store_unavailable', `${where} answered without a result.`);
        return data.result;
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = classifyQdrantError(thrown, where);
        const delay = delaysMs[tries];
        if (error.code !== 'store_unavailable' || delay === undefined || isRefusal(thrown)) throw error;
        await clock.sleep(Math.max(delay, Math.min(error.retryAfterMs ?? 0, 10_000)), signal);
      }
    }
  }

  /** A change that is only accepted may be lost, or take effect at any time: for the caller its effect is unknown. */
  async function change(
    request: (init: { signal: AbortSignal }) => Promise<{ readonly data: { readonly result?: unknown } }>,
    signal?: AbortSignal,
    delaysMs?: readonly number[],
  ): Promise<void> {
    await call(
      async (init) => {
        const answer = await request(init);
        for (const one of [answer.data.result].flat()) {
          const status = statusOf(one);
          if (status !== 'completed')
            throw new MillraceError(
              'store_unavailable',
              `${where} accepted a change and did not complete it (${status}).`,
              { hint: 'The server is behind with its writes; it is asked again.' },
            );
        }
        return answer;
      },
      signal,
      delaysMs,
    );
  }

  return {
    version: async (signal) => {
      const found = await call(async (init) => {
        const { data } = await api.root({}, init);
        const { version } = data as { version?: unknown };
        return { data: { result: typeof version === 'string' ? version : '' } };
      }, signal);
      if (found !== '') return found;
      throw new MillraceError('config_invalid', `What answers at ${url.host} is no Qdrant.`, {
        hint: '`url` is the address of the REST API, port 6333 by default.',
      });
    },
    describe: async (collection, signal) => {
      try {
        return collectionState(
          await call((init) => api.getCollection({ collection_name: collection }, init), signal),
        );
      } catch (error) {
        if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
        throw error;
      }
    },
    create: async (collection, { vectors, terms, indexFrom, tenants }, signal) => {
      const body = {
        collection_name: collection,
        vectors,
        ...(terms && { sparse_vectors: { [termsVector]: {} } }),
        ...(indexFrom !== undefined && { optimizers_config: { indexing_threshold: indexFrom } }),
        ...(tenants && { hnsw_config: { m: 0, payload_m: 16 } }),
      };
      try {
        await call((init) => api.createCollection(body, init), signal);
      } catch (error) {
        // Another process was first.
        if (error instanceof MillraceError && isAnswer(error.cause) && error.cause.status === 409) return;
        throw error;
      }
    },
    indexFrom: async (collection, kilobytes, signal) => {
      const body = { collection_name: collection, optimizers_config: { indexing_threshold: kilobytes } };
      await call((init) => api.updateCollection(body, init), signal);
    },
    index: (collection, field, kind, signal) => {
      const body = {
        collection_name: collection,
        wait: true,
        field_name: field,
        field_schema: kind as FieldIndex,
      };
      return change((init) => api.createFieldIndex(body, init), signal);
    },
    insert: (collection, points, signal) => {
      const body = { collection_name: collection, wait: true, points: mutable(points) };
      return change((init) => api.upsertPoints(body, init), signal, []);
    },
    replace: (collection, points, onlyIf, signal) => {
      const body = {
        collection_name: collection,
        wait: true,
        ordering: 'strong',
        points: mutable(points),
        update_filter: mutable(onlyIf),
      } as const;
      return change((init) => api.upsertPoints(body, init), signal);
    },
    update: (collection, updates, signal) => {
      const body = {
        collection_name: collection,
        wait: true,
        ordering: 'strong',
        operations: mutable(updates),
      } as const;
      return change((init) => api.batchUpdate(body as never, init), signal);
    },
    retrieve: async (collection, ids, select, signal) => {
      const body = {
        collection_name: collection,
        ids: mutable(ids),
        with_payload: mutable(select.payload),
        with_vector: select.vectors === undefined ? false : mutable(select.vectors),
      };
      return (await call((init) => api.getPoints(body, init), signal)).map(pointRecord);
    },
    scroll: async (collection, { filter, limit, offset, payload, vectors }, signal) => {
      const body = {
        collection_name: collection,
        filter: mutable(filter),
        limit,
        ...(offset !== undefined && { offset }),
        with_payload: mutable(payload),
        with_vector: vectors === undefined ? false : mutable(vectors),
      };
      const { points, next_page_offset: next } = await call((init) => api.scrollPoints(body, init), signal);
      return { points: points.map(pointRecord), next: typeof next === 'string' ? next : undefined };
    },
    count: async (collection, filter, signal) => {
      const body = { collection_name: collection, filter: mutable(filter), exact: true };
      return (await call((init) => api.countPoints(body, init), signal)).count;
    },
    sample: async (collection, { filter, limit, payload }, signal) => {
      const body = {
        collection_name: collection,
        query: { sample: 'random' },
        filter: mutable(filter),
        limit,
        with_payload: mutable(payload),
      } as const;
      return (await call((init) => api.queryPoints(body, init), signal)).points.map(scoredPoint);
    },
    query: async (collection, { vector, using, filter, limit, exact, payload, vectors }, signal) => {
      const body = {
        collection_name: collection,
        query: mutable(vector),
        using,
        filter: mutable(filter),
        limit,
        params: { exact },
        with_payload: mutable(payload),
        with_vector: vectors === undefined ? false : mutable(vectors),
      };
      return (await call((init) => api.queryPoints(body, init), signal)).points.map(scoredPoint);
    },
  };
}

/** An answer that the same request will get again. */
function isRefusal(thrown: unknown): boolean {
  return isAnswer(thrown) && thrown.status < 500 && thrown.status !== 429 && thrown.status !== 408;
}

function explicitPort(url: string): number | undefined {
  const port = /^https?:\/\/(?:[^/@]*@)?[^/?#]*:(\d+)(?:[/?#]|$)/.exec(url)?.[1];
  return port === undefined ? undefined : Number(port);
}

/** The client's types know no `readonly`. */
function mutable<T>(value: T): never {
  return value as never;
}

function statusOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'status' in result ? result.status : result;
}

function pointRecord(point: unknown): PointRecord {
  const { id, payload, vector } = point as {
    readonly id: string;
    readonly payload?: Payload | null;
    readonly vector?: NamedVectors | readonly number[] | null;
  };
  return { id, payload: payload ?? {}, vector: isNamed(vector) ? vector : {} };
}

function scoredPoint(point: { readonly id: unknown; readonly score: number }): ScoredPoint {
  const { payload, vector } = pointRecord(point);
  return { payload, vector, score: point.score };
}

function isNamed(vector: NamedVectors | readonly number[] | null | undefined): vector is NamedVectors {
  return vector !== undefined && vector !== null && !Array.isArray(vector);
}

function collectionState(info: unknown): CollectionState {
  const { status, config } = info as {
    readonly status: CollectionState['status'];
    readonly config: {
      readonly params: {
        readonly vectors?: { readonly [name: string]: unknown };
        readonly sparse_vectors?: { readonly [name: string]: unknown } | null;
      };
    };
  };
  const terms = termsVector in (config.params.sparse_vectors ?? {});
  const vectors = Object.entries(config.params.vectors ?? {});
  if (vectors.some(([, one]) => typeof one !== 'object')) return { status, terms, vectors: undefined };
  return { status, terms, vectors: new Map(vectors as [string, { size: number; distance: string }][]) };
}
