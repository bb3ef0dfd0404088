import { MillraceError } from '../../src/errors/millrace-error.js';
import type { IndexPlan } from './index-plan.js';
import type { FoundSpace } from './layout.js';
import { quoteName, quoteText, type TableNames } from './names.js';
import type { VectorType } from './vector-columns.js';

/** `off`, or the number of chunks from which a pipeline's vectors are indexed. */
export type IndexRule = 'off' | number;

// https://github.com/pgvector/pgvector#hnsw: vector up to 2,000 components, halfvec up to 4,000
const maxVector = 2000;
const maxHalf = 4000;

/**
 * Candidates for the neighbours of each vector. With pgvector's 64 a vector could not be reached at all, in 14 of 300
 * indexes over 600 documents that came in the order of their likeness; with 128 in none.
 */
const construction = 128;

export function indexable(width: number): boolean {
  return width <= maxHalf;
}

/** Before any table is touched. @throws MillraceError `config_invalid` when an index was asked for that cannot be */
export function checkIndexRule(asked: 'auto' | IndexRule, width: number): void {
  if (typeof asked !== 'number' || indexable(width)) return;
  throw new MillraceError(
    'config_invalid',
    `sink.index: pgvector indexes at most ${maxHalf} components, the model gives ${width}.`,
    { hint: 'Write `index: off` for exact search, or choose a narrower model.' },
  );
}

/** The distance as the index knows it: wide vectors are indexed in half precision. */
export function indexedDistance(space: FoundSpace, parameter: string): string {
  const type = indexedDistanceType(space);
  return `${space.column}::${type} <=> ${parameter}::${space.type}::${type}`;
}

/** The type of the vectors that the index holds, with their width. */
export function indexedDistanceType(space: FoundSpace): string {
  return `${indexedType(space)}(${space.width})`;
}

function indexedType({ width, type }: Pick<FoundSpace, 'width' | 'type'>): VectorType {
  return width <= maxVector ? type : 'halfvec';
}

/** Beside its components a vector in the graph has its neighbours, with pgvector's `m` of 16: seen, rounded up. */
const graphBytes = 600;

/** Chunks that an index is of, and how it is called. */
export interface IndexPart {
  readonly name: string;
  readonly condition: string;
}

/** An index of the vectors of a space. @param key of the generation; @param part of its chunks, else all */
export function vectorIndexPlan(
  names: TableNames,
  key: string,
  space: FoundSpace,
  part?: IndexPart,
): IndexPlan {
  const { column, width } = space;
  const name = part?.name ?? space.index;
  const and = part === undefined ? '' : ` and ${part.condition}`;
  const type = indexedType(space);
  return {
    name,
    counted: `${column} is not null${and}`,
    bytesEach: width * (space.type === 'vector' ? 4 : 2) + graphBytes,
    create: (concurrently) => ({
      text: `create index ${concurrently ? 'concurrently ' : ''}if not exists ${quoteName(name)}
             on ${names.chunks} using hnsw ((${column}::${type}(${width})) ${type}_cosine_ops)
             with (ef_construction = ${construction})
             where pipeline = ${quoteText(key)}${and}`,
    }),
  };
}
