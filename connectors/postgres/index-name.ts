import { createHash } from 'node:crypto';

/** What the names of all vector indexes of a pipeline begin with: any pipeline name fits, within Postgres's 63 bytes. */
export function indexPrefix(pipeline: string): string {
  return `chunks_hnsw_${createHash('sha256').update(pipeline).digest('hex').slice(0, 16)}`;
}

/**
 * Name of the vector index of a space.
 * @param generation from 1; @param space its place among the pipeline's spaces, from 0
 */
export function indexName(pipeline: string, generation: number, space = 0): string {
  const name = indexPrefix(pipeline) + (generation === 1 ? '' : `_g${generation}`);
  return space === 0 ? name : `${name}_${space + 1}`;
}
