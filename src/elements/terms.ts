/** The words of a text, as numbers: what a search by words compares. */
export interface Terms {
  /** Ascending, each once, from 0 to below `termSpace`. */
  readonly ids: Int32Array;
  /** How often each occurs, from 1, in the order of the ids. */
  readonly counts: Int32Array;
}

/** Most numbers that a sparse vector of pgvector can have. */
export const termSpace = 1_000_000_000;
