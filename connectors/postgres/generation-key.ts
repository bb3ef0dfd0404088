import type { TableNames } from './names.js';

/** The key of a generation's rows. The first one's is the name of the pipeline, in which no configuration has a `#`. */
export function generationKey(pipeline: string, generation: number): string {
  return generation === 1 ? pipeline : `${pipeline}#${generation}`;
}

/** The same in SQL. @param pipeline and generation expressions */
export function generationKeySql(pipeline: string, generation: string): string {
  return `(${pipeline} || coalesce('#' || nullif(${generation}, 1), ''))`;
}

/** The key of the active generation. @param pipeline a parameter */
export function activeKeySql(names: TableNames, pipeline: string): string {
  return `(select ${generationKeySql('h.pipeline', 'h.active')} from ${names.layout} h where h.pipeline = ${pipeline})`;
}
