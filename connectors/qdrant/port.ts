import type { Json } from '../../src/elements/metadata.js';
import type { SparseVector } from './term-weights.js';

export type Payload = { readonly [field: string]: Json };
export type NamedVectors = { readonly [name: string]: readonly number[] | SparseVector };

export interface Point {
  /** A UUID. */
  readonly id: string;
  readonly vector: NamedVectors;
  readonly payload: Payload;
}

/** A point as it was read: with what was asked for. */
export interface PointRecord {
  readonly id: string;
  readonly payload: Payload;
  readonly vector: NamedVectors;
}

export interface ScoredPoint {
  readonly payload: Payload;
  readonly vector: NamedVectors;
  readonly score: number;
}

/** All of `must`, one of `should` where there are any, none of `must_not`. */
export interface PointFilter {
  readonly must?: readonly PointCondition[];
  readonly should?: readonly PointCondition[];
  readonly must_not?: readonly PointCondition[];
}

export type PointCondition =
  | PointFilter
  | { readonly key: string; readonly match: { readonly value: string | boolean | number } }
  | { readonly key: string; readonly match: { readonly any: readonly string[] } }
  | { readonly key: string; readonly range: Range }
  | { readonly is_null: { readonly key: string } }
  | { readonly is_empty: { readonly key: string } }
  | { readonly has_id: readonly string[] }
  | { readonly has_vector: string };

export interface Range {
  readonly gt?: number | string;
  readonly gte?: number | string;
  readonly lt?: number | string;
  readonly lte?: number | string;
}

export type PointUpdate =
  | { readonly set_payload: { readonly payload: Payload; readonly filter: PointFilter } }
  | { readonly delete: { readonly filter: PointFilter } };

export interface Selection {
  /** Fields of the payload; none: no payload. */
  readonly payload: readonly string[];
  /** Names of vectors. */
  readonly vectors?: readonly string[];
}

export interface ScrollRequest extends Selection {
  readonly filter: PointFilter;
  readonly limit: number;
  /** From this point on. */
  readonly offset?: string;
}

export interface QueryRequest extends Selection {
  readonly vector: readonly number[] | SparseVector;
  /** Name of the vector that is compared. */
  readonly using: string;
  readonly filter: PointFilter;
  readonly limit: number;
  /** Compares with every point, without the index. */
  readonly exact: boolean;
}

export interface CollectionSettings {
  readonly vectors: { readonly [name: string]: { readonly size: number; readonly distance: 'Cosine' } };
  /** Kilobytes of vectors from which the index is built; 0: never. */
  readonly indexFrom?: number;
  /** Chunks carry a sparse vector of their words. */
  readonly terms?: boolean;
  /** One index for each tenant instead of one for all. */
  readonly tenants?: boolean;
}

export interface CollectionState {
  readonly status: 'green' | 'yellow' | 'grey' | 'red';
  /** Names and widths; undefined where the collection has one vector without a name. */
  readonly vectors: ReadonlyMap<string, { readonly size: number; readonly distance: string }> | undefined;
  readonly terms: boolean;
  /** Kilobytes of vectors from which it is indexed; 0: never. */
  readonly indexFrom: number | undefined;
}

export type FieldIndex =
  | { readonly type: 'keyword'; readonly is_tenant?: boolean }
  | { readonly type: 'integer'; readonly lookup: boolean; readonly range: boolean }
  | { readonly type: 'uuid' | 'bool' | 'float' };

/**
 * What the store asks of Qdrant. Each call is atomic in itself and, when it resolves, in effect: only `completed` counts.
 * @throws MillraceError `store_layout` where the collection is missing, `store_refused` for data that the server does not
 * take, `store_unavailable` when it is unknown whether the call took effect
 */
export interface QdrantPort {
  version(signal?: AbortSignal): Promise<string>;
  /** @returns undefined where there is no such collection */
  describe(collection: string, signal?: AbortSignal): Promise<CollectionState | undefined>;
  /** Makes a collection unless there is one. */
  create(collection: string, settings: CollectionSettings, signal?: AbortSignal): Promise<void>;
  /** Changes the size from which a collection is indexed. */
  indexFrom(collection: string, kilobytes: number, signal?: AbortSignal): Promise<void>;
  index(collection: string, field: string, kind: FieldIndex, signal?: AbortSignal): Promise<void>;
  /** Inserts new points and overwrites those that are there. Sent once: it is never tried again by itself. */
  insert(collection: string, points: readonly Point[], signal?: AbortSignal): Promise<void>;
  /** Inserts new points, and overwrites those that are there only where they match. It does not say which. */
  replace(
    collection: string,
    points: readonly Point[],
    onlyIf: PointFilter,
    signal?: AbortSignal,
  ): Promise<void>;
  /** One after the other. */
  update(collection: string, updates: readonly PointUpdate[], signal?: AbortSignal): Promise<void>;
  retrieve(
    collection: string,
    ids: readonly string[],
    select: Selection,
    signal?: AbortSignal,
  ): Promise<readonly PointRecord[]>;
  scroll(
    collection: string,
    request: ScrollRequest,
    signal?: AbortSignal,
  ): Promise<{ readonly points: readonly PointRecord[]; readonly next: string | undefined }>;
  count(collection: string, filter: PointFilter, signal?: AbortSignal): Promise<number>;
  /** Points by chance. */
  sample(
    collection: string,
    request: Omit<ScrollRequest, 'offset'>,
    signal?: AbortSignal,
  ): Promise<readonly ScoredPoint[]>;
  query(collection: string, request: QueryRequest, signal?: AbortSignal): Promise<readonly ScoredPoint[]>;
  /** Removes a collection with all that it holds, where there is one. */
  drop(collection: string, signal?: AbortSignal): Promise<void>;
  /** Other names of a collection; none where it is missing. */
  aliases(collection: string, signal?: AbortSignal): Promise<readonly string[]>;
  /** Gives a collection another name, which no other has from then on. */
  alias(name: string, collection: string, signal?: AbortSignal): Promise<void>;
}
