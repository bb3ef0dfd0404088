import { elements, matchesFilter, type StoredPoint } from './point-filter.js';
import type { FilterBody } from './schemas.js';
import type { Json } from './payload-path.js';

type PointId = string | number;

/** Below so many points every one is looked at. */
const few = 500;

/** The points of a collection, found by their ids, by indexed fields and in the order of their ids. */
export class Points {
  readonly #byId: Map<PointId, StoredPoint>;
  readonly #indexes: Map<string, Map<Json, Set<PointId>>>;
  /** Ids by how they begin, each sorted when it is asked for. */
  #ordered: Map<string, { readonly ids: Set<PointId>; sorted: PointId[] | undefined }> | undefined;

  constructor(from: Iterable<readonly [PointId, StoredPoint]> = [], fields: Iterable<string> = []) {
    this.#byId = new Map(from);
    this.#indexes = new Map([...fields].map((field) => [field, new Map()]));
    if (this.#byId.size > 0)
      for (const point of this.#byId.values())
        for (const [field, index] of this.#indexes) enter(index, field, point);
  }

  get size(): number {
    return this.#byId.size;
  }

  copy(): Points {
    return new Points(this.#byId, this.#indexes.keys());
  }

  values(): IterableIterator<StoredPoint> {
    return this.#byId.values();
  }

  get(id: PointId): StoredPoint | undefined {
    return this.#byId.get(id);
  }

  index(field: string): void {
    if (this.#indexes.has(field)) return;
    const index = new Map<Json, Set<PointId>>();
    for (const point of this.#byId.values()) enter(index, field, point);
    this.#indexes.set(field, index);
  }

  set(point: StoredPoint): void {
    const old = this.#byId.get(point.id);
    for (const [field, index] of this.#indexes) {
      if (old !== undefined) leave(index, field, old);
      enter(index, field, point);
    }
    this.#byId.set(point.id, point);
    if (old !== undefined || this.#ordered === undefined) return;
    const bucket = this.#bucket(point.id);
    bucket.ids.add(point.id);
    bucket.sorted = undefined;
  }

  delete(id: PointId): void {
    const old = this.#byId.get(id);
    if (old === undefined) return;
    for (const [field, index] of this.#indexes) leave(index, field, old);
    this.#byId.delete(id);
    if (this.#ordered === undefined) return;
    const bucket = this.#bucket(id);
    bucket.ids.delete(id);
    bucket.sorted = undefined;
  }

  *matching(filter: FilterBody | undefined): Generator<StoredPoint> {
    const ids = this.#narrowed(filter);
    if (ids === undefined) {
      for (const point of this.#byId.values())
        if (filter === undefined || matchesFilter(point, filter)) yield point;
      return;
    }
    for (const id of ids) {
      const point = this.#byId.get(id);
      if (point !== undefined && matchesFilter(point, filter!)) yield point;
    }
  }

  /** From a point on, in the order of ids. */
  *inOrder(filter: FilterBody | undefined, offset: PointId | undefined): Generator<StoredPoint> {
    const reached = (id: PointId) => offset === undefined || byId(id, offset) >= 0;
    const ids = this.#narrowed(filter);
    if (ids !== undefined || this.size < few) {
      const found = [...this.matching(filter)].filter(({ id }) => reached(id));
      yield* found.sort((a, b) => byId(a.id, b.id));
      return;
    }
    for (const id of this.#sorted(offset)) {
      const point = reached(id) ? this.#byId.get(id)! : undefined;
      if (point !== undefined && (filter === undefined || matchesFilter(point, filter))) yield point;
    }
  }

  /** The ids that one of the conditions leaves, where that is far less than all. */
  #narrowed(filter: FilterBody | undefined): Iterable<PointId> | undefined {
    if (filter === undefined || this.size < few) return undefined;
    let [least, most]: [Iterable<PointId> | undefined, number] = [undefined, this.size / 4];
    for (const condition of filter.must ?? []) {
      if ('has_id' in condition && condition.has_id.length < most)
        [least, most] = [new Set(condition.has_id), condition.has_id.length];
      if (!('match' in condition)) continue;
      const index = this.#indexes.get(condition.key);
      if (index === undefined) continue;
      const { match } = condition;
      const wanted = new Set<Json>('any' in match ? match.any : [match.value]);
      const sets = [...wanted].flatMap((value) => index.get(value) ?? []);
      const size = sets.reduce((sum, one) => sum + one.size, 0);
      if (size < most) [least, most] = [new Set(sets.flatMap((one) => [...one])), size];
    }
    return least;
  }

  *#sorted(offset: PointId | undefined): Generator<PointId> {
    if (this.#ordered === undefined) {
      this.#ordered = new Map();
      for (const id of this.#byId.keys()) this.#bucket(id).ids.add(id);
    }
    const from = offset === undefined ? '' : beginning(offset);
    for (const name of [...this.#ordered.keys()].sort()) {
      if (name < from) continue;
      const bucket = this.#ordered.get(name)!;
      bucket.sorted ??= [...bucket.ids].sort(byId);
      yield* bucket.sorted;
    }
  }

  #bucket(id: PointId) {
    const name = beginning(id);
    let bucket = this.#ordered!.get(name);
    if (bucket === undefined)
      this.#ordered!.set(name, (bucket = { ids: new Set<PointId>(), sorted: undefined }));
    return bucket;
  }
}

/** Numbers before UUIDs, as the server orders points. */
export function byId(a: PointId, b: PointId): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function beginning(id: PointId): string {
  return typeof id === 'number' ? '' : id.slice(0, 2);
}

function enter(index: Map<Json, Set<PointId>>, field: string, point: StoredPoint): void {
  for (const value of elements(point, field)) {
    const ids = index.get(value);
    if (ids === undefined) index.set(value, new Set([point.id]));
    else ids.add(point.id);
  }
}

function leave(index: Map<Json, Set<PointId>>, field: string, point: StoredPoint): void {
  for (const value of elements(point, field)) {
    const ids = index.get(value);
    ids?.delete(point.id);
    if (ids?.size === 0) index.delete(value);
  }
}
