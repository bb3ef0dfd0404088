import type { Json } from './payload-path.js';
import { matchesFilter, type StoredPoint } from './point-filter.js';
import { byId, Points } from './points.js';
import { Refusal } from './refusal.js';
import type { Body, FilterBody } from './schemas.js';
import { similarity, storedVector, written } from './stored-vector.js';

interface Collection {
  readonly params: Body<'create'> | Body<'createUnnamed'>;
  indexingThreshold: number;
  readonly points: Points;
  readonly indexes: Map<string, unknown>;
  /** How often its state is still told as one that optimizes. */
  optimizing: number;
  /** It has something to optimize and waits for a change before it begins. */
  waiting: boolean;
}

type Select = boolean | readonly string[] | undefined;

/** How often a collection says that it optimizes after its indexing was switched on. */
const optimizingTold = 2;

/**
 * What a Qdrant server keeps and how it changes it, for the requests of `schemas.ts`: in memory, one change after the
 * other, each of them whole. Vectors of cosine are stored at length 1.
 */
export function createEngine(
  from: ReadonlyMap<string, Collection> = new Map(),
  named: ReadonlyMap<string, string> = new Map(),
): Engine {
  const collections = new Map(
    [...from].map(([name, one]) => [
      name,
      { ...one, points: one.points.copy(), indexes: new Map(one.indexes) },
    ]),
  );
  const aliases = new Map(named);
  return { ...engineOver(collections, aliases), copy: () => createEngine(collections, aliases) };
}

export interface Engine extends ReturnType<typeof engineOver> {
  /** Another engine that holds the same. */
  copy(): Engine;
}

/** @param aliases other names of collections */
function engineOver(collections: Map<string, Collection>, aliases: Map<string, string>) {
  function open(name: string): Collection {
    const found = collections.get(aliases.get(name) ?? name);
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

  return {
    collections: () => [...collections.keys()],
    /** Everything in a collection, for tests to look at. */
    points: (name: string): readonly StoredPoint[] => [...open(name).points.values()],
    create(name: string, params: Body<'create'> | Body<'createUnnamed'>): boolean {
      if (collections.has(name) || aliases.has(name))
        throw new Refusal(409, `Wrong input: Collection \`${name}\` already exists!`);
      const indexingThreshold =
        'optimizers_config' in params ? (params.optimizers_config?.indexing_threshold ?? 10_000) : 10_000;
      collections.set(name, {
        params,
        indexingThreshold,
        points: new Points(),
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
    drop(name: string): boolean {
      for (const [alias, of] of aliases) if (of === name) aliases.delete(alias);
      return collections.delete(name);
    },
    aliases(name: string) {
      open(name);
      const own = [...aliases].filter(([, of]) => of === name);
      return { aliases: own.map(([alias_name, collection_name]) => ({ alias_name, collection_name })) };
    },
    /** All of them, or none where one cannot be made. */
    alias({ actions }: Body<'aliases'>): boolean {
      const next = new Map(aliases);
      for (const action of actions) {
        if ('delete_alias' in action) next.delete(action.delete_alias.alias_name);
        else {
          const { alias_name, collection_name } = action.create_alias;
          if (!collections.has(collection_name))
            throw new Refusal(404, `Not found: Collection \`${collection_name}\` doesn't exist!`);
          if (collections.has(alias_name))
            throw new Refusal(409, `Wrong input: Collection \`${alias_name}\` already exists!`);
          next.set(alias_name, collection_name);
        }
      }
      aliases.clear();
      for (const [alias, of] of next) aliases.set(alias, of);
      return true;
    },
    index(name: string, { field_name, field_schema }: Body<'index'>): void {
      const one = open(name);
      one.indexes.set(field_name, field_schema);
      one.points.index(field_name);
    },
    upsert(name: string, { points, update_filter }: Body<'upsert'>): void {
      const one = open(name);
      const stored = points.map((point) => storedPoint(one, point));
      for (const point of stored) {
        const old = one.points.get(point.id);
        if (old !== undefined && update_filter !== undefined && !matchesFilter(old, update_filter)) continue;
        one.points.set(point);
      }
    },
    update(name: string, { operations }: Body<'batch'>): void {
      const one = open(name);
      for (const operation of operations) {
        if ('delete' in operation) {
          for (const { id } of [...one.points.matching(operation.delete.filter)]) one.points.delete(id);
        } else {
          const { payload, filter } = operation.set_payload;
          for (const point of [...one.points.matching(filter)])
            one.points.set({
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
      const found: StoredPoint[] = [];
      for (const point of open(name).points.inOrder(filter, offset)) {
        found.push(point);
        if (found.length > limit) break;
      }
      return {
        points: found.slice(0, limit).map((point) => select(point, with_payload, with_vector)),
        next_page_offset: found[limit]?.id ?? null,
      };
    },
    count(name: string, { filter }: Body<'count'>) {
      const { points } = open(name);
      if (filter === undefined || Object.keys(filter).length === 0) return { count: points.size };
      let count = 0;
      for (const _ of points.matching(filter)) count += 1;
      return { count };
    },
    query(name: string, request: Body<'query'>) {
      const { query, using, filter, limit = 10, with_payload, with_vector } = request;
      const one = open(name);
      const scored =
        'sample' in query
          ? [...one.points.matching(filter)]
              .map((point) => ({ point, score: 0 }))
              .sort(() => Math.random() - 0.5)
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
    const scored = [...one.points.matching(filter)].flatMap((point) => {
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
