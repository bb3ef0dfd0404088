import { QdrantClient } from '@qdrant/js-client-rest';
import type { Clock } from '../../src/contracts/context.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { QdrantConfig } from './config.js';
import { createCaller } from './client-call.js';
import { collectionState, pointRecord, scoredPoint } from './client-results.js';
import type { FieldIndex, QdrantPort } from './port.js';
import { isAnswer } from './qdrant-error.js';
import { termsVector } from './term-weights.js';

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
  const where = `Qdrant at ${url.host}`;
  const { call, change } = createCaller(config, where, clock);

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
        // What it forbids where it is on, conditions on fields without an index, stays within a document here.
        strict_mode_config: { enabled: false },
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
    sample: async (collection, { filter, limit, payload, vectors }, signal) => {
      const body = {
        collection_name: collection,
        query: { sample: 'random' },
        filter: mutable(filter),
        limit,
        with_payload: mutable(payload),
        with_vector: vectors === undefined ? false : mutable(vectors),
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
    drop: async (collection, signal) => {
      await call((init) => api.deleteCollection({ collection_name: collection }, init), signal);
    },
    aliases: async (collection, signal) => {
      try {
        const body = { collection_name: collection };
        const { aliases } = await call((init) => api.getCollectionAliases(body, init), signal);
        return aliases.map(({ alias_name: name }) => name);
      } catch (error) {
        if (error instanceof MillraceError && error.code === 'store_layout') return [];
        throw error;
      }
    },
    alias: async (name, collection, signal) => {
      // Both in one call, which Qdrant makes in one step: there is no moment without the name.
      const actions = [
        { delete_alias: { alias_name: name } },
        { create_alias: { alias_name: name, collection_name: collection } },
      ];
      await call((init) => api.updateAliases({ actions }, init), signal);
    },
  };
}

function explicitPort(url: string): number | undefined {
  const port = /^https?:\/\/(?:[^/@]*@)?[^/?#]*:(\d+)(?:[/?#]|$)/.exec(url)?.[1];
  return port === undefined ? undefined : Number(port);
}

/** The client's types know no `readonly`. */
function mutable<T>(value: T): never {
  return value as never;
}
