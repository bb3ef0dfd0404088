import type { SqlConnection } from './connection.js';
import type { TableNames } from './names.js';
import type { VectorType } from './vector-columns.js';
import { indexable, type IndexRule } from './vector-index.js';

export interface RoomOptions {
  /** Of the vectors in each space. */
  readonly widths: readonly number[];
  readonly vectors: VectorType;
  readonly index: IndexRule;
}

/** Header, keys, numbers and hash of a row, and its entries in the two indexes by key: measured on a fresh table. */
const rowBytes = 290;
/** Of an index entry beside its vector: a node of pgvector's HNSW with m = 16, its neighbours included. */
const nodeBytes = 300;

/**
 * Bytes on disk of a filling with the chunks that a generation has now, by the texts of its first thousand.
 * @param key of the generation
 */
export async function roomOf(
  connection: SqlConnection,
  names: TableNames,
  key: string,
  { widths, vectors, index }: RoomOptions,
  signal?: AbortSignal,
): Promise<number> {
  const [row] = await connection.query(
    {
      text: `select (select count(*)::float8 from ${names.chunks} where pipeline = $1) as chunks,
               (select coalesce(avg(pg_column_size(text) + coalesce(pg_column_size(prefix), 0)
                  + pg_column_size(metadata)), 0)::float8
                from (select text, prefix, metadata from ${names.chunks} where pipeline = $1 limit 1000) s) as texts`,
      values: [key],
    },
    signal,
  );
  const { chunks, texts } = row as unknown as { chunks: number; texts: number };
  const indexed = index !== 'off' && chunks >= index;
  const perVector = widths.map((width) => {
    const bytes = width * (vectors === 'vector' ? 4 : 2);
    return bytes + (indexed && indexable(width) ? bytes + nodeBytes : 0);
  });
  return Math.round(chunks * (texts + rowBytes + perVector.reduce((sum, bytes) => sum + bytes, 0)));
}
