import { createHash } from 'node:crypto';

/**
 * Name of the vector index of a pipeline's space: any pipeline name fits, within Postgres's 63 bytes.
 * @param space its place among the pipeline's spaces, from 0
 */
export function indexName(pipeline: string, space = 0): string {
  const name = `chunks_hnsw_${createHash('sha256').update(pipeline).digest('hex').slice(0, 16)}`;
  return space === 0 ? name : `${name}_${space + 1}`;
}
