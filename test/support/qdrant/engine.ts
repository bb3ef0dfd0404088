import type { Json } from './payload-path.js';
import { matchesFilter, type StoredPoint } from './point-filter.js';
import { Refusal } from './refusal.js';
import type { Body, FilterBody } from './schemas.js';
import { similarity, storedVector, written } from './stored-vector.js';

interface Collection {
  readonly params: Body<'create'> | Body<'createUnnamed'>;
  indexingThreshold: number;
  readonly points: Map<string | number, StoredPoint>;
  readonly indexes: Map<string, unknown>;
  /** How often its state is still told as one that optimizes. */
  optimizing: number;
  /** It has something to optimize and waits for a change before it begins. */
  waiting: boolean;
}

type PointId = string | number;
type Select = boolean | readonly string[] | undefined;

/** How often a collection says that it optimizes after its indexing was switched on. */
const optimizingTold = 2;

/**
 * What a Qdrant server keeps and how it changes it, for the requests of `schemas.ts`: in memory, one change after the
 * other, each of them whole. Vectors of cosine are stored at length 1.
 */
export function createEngine(from: ReadonlyMap<string, Collection> = new Map()): Engine {
  const collections = new Map(
    [...from].map(([name, one]) => [
      name,
      { ...one, points: new Map(one.points), indexes: new Map(one.indexes) },
    ]),
  );
  return { ...engineOver(collections), copy: () => createEngine(collections) };
}

export interface Engine extends ReturnType<typeof engineOver> {
  /** Another engine that holds the same. */
  copy(): Engine;
}

function engineOver(collections: Map<string, Collection>) {
  function open(name: string): Collection {
    const found = collections.get(name);
    if (found === undefined) throw new Refusal(404, `Not found: Collection \`${name}\` doesn't exist!`);
    return found;
  }

  function select(point: StoredPoint, withPayload: Select, withVector: Select) {
    const vectors = [...point.vectors].filter(
      ([name]) => withVector === true || (Array.isArray(withVector) && withVector.includes(name)),
    );
    const payload = Object.entries(point.payload).filter(
      ([name]) => withPayload === true || (Array.isArray(withPayload) && withPayload.includes(name)),
    );
    return {
      id: point.id,
      payload: withPayload === false || withPayload === undefined ? null : Object.fromEntries(payload),
      ...(withVector !== undefined &&
        withVector !== false && {
          vector: Object.fromEntries(vectors.map(([name, vector]) => [name, written(vector)])),
        }),
    };
  }

  function* matching({ points }: Collection, filter: FilterBody | undefined): Generator<StoredPoint> {
    for (const point of points.values())
      if (filter === undefined || matchesFilter(point, filter)) yield point;
  }

  return {
    collections: () => [...collections.keys()],
    /** Everything in a collection, for tests to look at. */
    points: (name: string): readonly StoredPoint[] => [...open(name).points.values()],
    create(name: string, params: Body<'create'> | Body<'createUnnamed'>): boolean {
      if (collections.has(name))
        throw new Refusal(409, `Wrong input: Collection \`${name}\` already exists!`);
      const indexingThreshold =
        'optimizers_config' in params ? (params.optimizers_config?.indexing_threshold ?? 10_000) : 10_000;
      collections.set(name, {
        params,
        indexingThreshold,
        points: new Map(),
        indexes: new Map(),
        optimizing: 0,
        waiting: false,
      });
      return true;
    },
    describe(name: string) {
      const one = open(name);
      const status = one.waiting ? 'grey' : one.optimizing > 0 ? 'yellow' : 'green';
      if (!one.waiting) one.optimizing = Math.max(0, one.optimizing - 1);
      return {
        status,
        optimizer_status: 'ok',
        indexed_vectors_count: one.indexingThreshold === 0 ? 0 : one.points.size,
        points_count: one.points.size,
        segments_count: 1,
        config: {
          params: {
            vectors: one.params.vectors ?? {},
            ...('sparse_vectors' in one.params && { sparse_vectors: one.params.sparse_vectors }),
          },
          optimizer_config: { indexing_threshold: one.indexingThreshold },
        },
        payload_schema: Object.fromEntries(one.indexes),
      };
    },
    change(name: string, { optimizers_config }: Body<'change'>): boolean {
      const one = open(name);
      const threshold = optimizers_config.indexing_threshold;
      if (threshold === undefined || threshold === null) return true;
      one.waiting = one.indexingThreshold === 0 && threshold > 0;
      if (one.waiting) one.optimizing = optimizingTold;
      one.indexingThreshold = threshold;
      return true;
    },
    index(name: string, { field_name, field_schema }: Body<'index'>): void {
      open(name).indexes.set(field_name, field_schema);
    },
    upsert(name: string, { points, update_filter }: Body<'upsert'>): void {
      const one = open(name);
      const stored = points.map((point) => storedPoint(one, point));
      for (const point of stored) {
        const old = one.points.get(point.id);
        if (old !== undefined && update_filter !== undefined && !matchesFilter(old, update_filter)) continue;
        one.points.set(point.id, point);
      }
    },
    update(name: string, { operations }: Body<'batch'>): void {
      const one = open(name);
      for (const operation of operations) {
        if ('delete' in operation) {
          for (const { id } of [...matching(one, operation.delete.filter)]) one.points.delete(id);
        } else {
          const { payload, filter } = operation.set_payload;
          for (const point of [...matching(one, filter)])
            one.points.set(point.id, {
              ...point,
              payload: { ...point.payload, ...(payload as Record<string, Json>) },
            });
        }
      }
    },
    retrieve(name: string, { ids, with_payload = true, with_vector }: Body<'retrieve'>) {
      const { points } = open(name);
      const found = [...new Set(ids)].flatMap((id) => points.get(id) ?? []);
      return found.map((point) => select(point, with_payload, with_vector));
    },
    scroll(name: string, request: Body<'scroll'>) {
      const { filter, limit = 10, offset, with_payload = true, with_vector } = request;
      const found = [...matching(open(name), filter)]
        .filter(({ id }) => offset === undefined || byId(id, offset) >= 0)
        .sort((a, b) => byId(a.id, b.id));
      return {
        points: found.slice(0, limit).map((point) => select(point, with_payload, with_vector)),
        next_page_offset: found[limit]?.id ?? null,
      };
    },
    count(name: string, { filter }: Body<'count'>) {
      return { count: [...matching(open(name), filter)].length };
    },
    query(name: string, request: Body<'query'>) {
      const { query, using, filter, limit = 10, with_payload, with_vector } = request;
      const one = open(name);
      const scored =
        'sample' in query
          ? [...matching(one, filter)].map((point) => ({ point, score: 0 })).sort(() => Math.random() - 0.5)
          : nearest(one, query, using, filter);
      return {
        points: scored.slice(0, limit).map(({ point, score }) => ({
          ...select(point, with_payload, with_vector),
          version: 0,
          score,
        })),
      };
    },
  };

  function nearest(
    one: Collection,
    query: readonly number[] | { indices: number[]; values: number[] },
    using: string | undefined,
    filter: FilterBody | undefined,
  ) {
    const wanted = storedVector(one.params, using ?? '', query);
    const scored = [...matching(one, filter)].flatMap((point) => {
      const vector = point.vectors.get(using ?? '');
      const score = vector === undefined ? undefined : similarity(wanted, vector);
      return score === undefined ? [] : [{ point, score: Math.fround(score) }];
    });
    // Of equal scores the highest id first: nobody may count on an order that Qdrant does not promise.
    return scored.sort((a, b) => b.score - a.score || byId(b.point.id, a.point.id));
  }

  function storedPoint(
    one: Collection,
    { id, vector, payload }: Body<'upsert'>['points'][number],
  ): StoredPoint {
    const vectors = Object.entries(vector).map(
      ([name, components]) => [name, storedVector(one.params, name, components)] as const,
    );
    return { id, vectors: new Map(vectors), payload: (payload ?? {}) as StoredPoint['payload'] };
  }
}

/** Numbers before UUIDs, as the server orders points. */
function byId(a: PointId, b: PointId): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
