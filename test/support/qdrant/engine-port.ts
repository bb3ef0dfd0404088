import type {
  CollectionState,
  PointRecord,
  QdrantPort,
  ScoredPoint,
} from '../../../connectors/qdrant/port.js';
import { classifyQdrantError } from '../../../connectors/qdrant/qdrant-error.js';
import type { Engine } from './engine.js';

/** The port straight on the engine: each call is one step, and takes effect when it is made. */
export function createEnginePort(engine: Engine): QdrantPort {
  const asked = async <T>(call: () => T): Promise<T> => {
    try {
      return call();
    } catch (error) {
      throw classifyQdrantError(error, 'The engine');
    }
  };
  return {
    version: async () => '1.18.0',
    describe: (collection) =>
      asked(() => {
        if (!engine.collections().includes(collection)) return undefined;
        const { status, config } = engine.describe(collection);
        const terms = 'sparse_vectors' in config.params;
        const indexFrom = config.optimizer_config.indexing_threshold;
        return {
          status,
          terms,
          indexFrom,
          vectors: new Map(Object.entries(config.params.vectors)),
        } as CollectionState;
      }),
    create: (collection, { vectors, terms, indexFrom = 10_000 }) =>
      asked(() => {
        if (engine.collections().includes(collection)) return;
        const body = {
          vectors,
          ...(terms && { sparse_vectors: { _terms: {} } }),
          optimizers_config: { indexing_threshold: indexFrom },
        };
        engine.create(collection, body as never);
      }),
    indexFrom: (collection, kilobytes) =>
      asked(() => void engine.change(collection, { optimizers_config: { indexing_threshold: kilobytes } })),
    index: (collection, field_name, field_schema) =>
      asked(() => engine.index(collection, { field_name, field_schema } as never)),
    insert: (collection, points) => asked(() => engine.upsert(collection, { points } as never)),
    replace: (collection, points, update_filter) =>
      asked(() => engine.upsert(collection, { points, update_filter } as never)),
    update: (collection, operations) => asked(() => engine.update(collection, { operations } as never)),
    retrieve: (collection, ids, { payload, vectors = [] }) =>
      asked(() => {
        const body = { ids, with_payload: payload, with_vector: vectors } as never;
        return engine.retrieve(collection, body) as PointRecord[];
      }),
    scroll: (collection, { payload, vectors = [], ...rest }) =>
      asked(() => {
        const body = { ...rest, with_payload: payload, with_vector: vectors } as never;
        const { points, next_page_offset: next } = engine.scroll(collection, body);
        return { points: points as PointRecord[], next: next === null ? undefined : String(next) };
      }),
    count: (collection, filter) => asked(() => engine.count(collection, { filter } as never).count),
    sample: (collection, { filter, limit, payload, vectors = [] }) =>
      asked(() => {
        const body = {
          query: { sample: 'random' },
          filter,
          limit,
          with_payload: payload,
          with_vector: vectors,
        } as never;
        return engine.query(collection, body).points as unknown as ScoredPoint[];
      }),
    query: (collection, { vector, using, filter, limit, payload, vectors = [] }) =>
      asked(() => {
        const body = {
          query: vector,
          using,
          filter,
          limit,
          with_payload: payload,
          with_vector: vectors,
        } as never;
        return engine.query(collection, body).points as unknown as ScoredPoint[];
      }),
    drop: (collection) => asked(() => void engine.drop(collection)),
    aliases: (collection) =>
      asked(() =>
        engine.collections().includes(collection)
          ? engine.aliases(collection).aliases.map(({ alias_name: name }) => name)
          : [],
      ),
    alias: (alias_name, collection_name) =>
      asked(
        () =>
          void engine.alias({
            actions: [{ delete_alias: { alias_name } }, { create_alias: { alias_name, collection_name } }],
          }),
      ),
  };
}
