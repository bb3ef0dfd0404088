import type { ChunkSearch } from '../contracts/chunk-search.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { SparseSpec } from '../transforms/terms/sparse-schema.js';

/** The search by words of a store, with how it ranks. */
export interface TermSearch extends Readonly<SparseSpec['bm25']> {
  readonly search: NonNullable<ChunkSearch['searchTerms']>;
}

/** @throws MillraceError `config_invalid` where the store was filled without words */
export function neededTerms(terms: TermSearch | undefined, mode: string): TermSearch {
  if (terms !== undefined) return terms;
  throw new MillraceError(
    'config_invalid',
    `The store holds no words, so it cannot be asked in mode ${mode}.`,
    {
      hint: 'Put the step `sparse: { bm25: {} }` before `embed` in the chain and fill a new generation (`millrace generations start`) or a new store; or ask in mode dense.',
    },
  );
}
