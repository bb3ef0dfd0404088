import { createHash } from 'node:crypto';

/** Name of a pipeline's vector index: any pipeline name fits, within Postgres's 63 bytes. */
export function indexName(pipeline: string): string {
  return `chunks_hnsw_${createHash('sha256').update(pipeline).digest('hex').slice(0, 16)}`;
}
