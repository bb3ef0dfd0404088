import { createHash } from 'node:crypto';

/** Of vectors, of the words of chunks, and of metadata fields. */
export type IndexKind = 'hnsw' | 'words' | 'meta';

/** What the names of all indexes of a kind and a pipeline begin with: any pipeline name fits, within Postgres's 63 bytes. */
export function indexPrefix(kind: IndexKind, pipeline: string): string {
  return `chunks_${kind}_${createHash('sha256').update(pipeline).digest('hex').slice(0, 16)}`;
}

/**
 * Name of the vector index of a space, or of another index of a generation.
 * @param generation from 1; @param space its place among the pipeline's spaces, from 0
 */
export function indexName(kind: IndexKind, pipeline: string, generation: number, space = 0): string {
  const name = indexPrefix(kind, pipeline) + (generation === 1 ? '' : `_g${generation}`);
  return space === 0 ? name : `${name}_${space + 1}`;
}

/** Name of the index of a metadata field's column. */
export function columnIndexName(pipeline: string, generation: number, column: string): string {
  const digest = createHash('sha256').update(column).digest('hex').slice(0, 12);
  return `${indexName('meta', pipeline, generation)}_${digest}`;
}
