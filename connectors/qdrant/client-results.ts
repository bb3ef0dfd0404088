import type { CollectionState, NamedVectors, Payload, PointRecord, ScoredPoint } from './port.js';
import { termsVector } from './term-weights.js';

export function pointRecord(point: unknown): PointRecord {
  const { id, payload, vector } = point as {
    readonly id: string;
    readonly payload?: Payload | null;
    readonly vector?: NamedVectors | readonly number[] | null;
  };
  return { id, payload: payload ?? {}, vector: isNamed(vector) ? vector : {} };
}

export function scoredPoint(point: { readonly id: unknown; readonly score: number }): ScoredPoint {
  const { payload, vector } = pointRecord(point);
  return { payload, vector, score: point.score };
}

function isNamed(vector: NamedVectors | readonly number[] | null | undefined): vector is NamedVectors {
  return vector !== undefined && vector !== null && !Array.isArray(vector);
}

export function collectionState(info: unknown): CollectionState {
  const { status, config } = info as {
    readonly status: CollectionState['status'];
    readonly config: {
      readonly params: {
        readonly vectors?: { readonly [name: string]: unknown };
        readonly sparse_vectors?: { readonly [name: string]: unknown } | null;
      };
      readonly optimizer_config?: { readonly indexing_threshold?: number | null };
    };
  };
  const terms = termsVector in (config.params.sparse_vectors ?? {});
  const indexFrom = config.optimizer_config?.indexing_threshold ?? undefined;
  const vectors = Object.entries(config.params.vectors ?? {});
  if (vectors.some(([, one]) => typeof one !== 'object'))
    return { status, terms, indexFrom, vectors: undefined };
  return {
    status,
    terms,
    indexFrom,
    vectors: new Map(vectors as [string, { size: number; distance: string }][]),
  };
}
