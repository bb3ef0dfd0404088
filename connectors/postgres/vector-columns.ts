import type { SqlStatement } from './connection.js';
import type { TableNames } from './names.js';
import { takeTurns } from './schema-sql.js';

/** How vectors are kept: floats of 32 or of 16 bits a component. */
export type VectorType = 'vector' | 'halfvec';

/** The column of a pipeline's space by its place: pipelines share the table, and with it the columns. */
export function vectorColumn(space: number, type: VectorType): string {
  const name = type === 'vector' ? 'embedding' : 'embedding_half';
  return space === 0 ? name : `${name}_${space + 1}`;
}

/** Columns for so many spaces, where the table has not had them from the beginning. Vectors stay in the row. */
export function columnStatements(
  names: TableNames,
  spaces: number,
  type: VectorType,
): readonly SqlStatement[] {
  const columns = Array.from({ length: spaces }, (_, at) => vectorColumn(at, type)).slice(
    type === 'vector' ? 1 : 0,
  );
  if (columns.length === 0) return [];
  return [
    takeTurns,
    ...columns.flatMap((column) => [
      { text: `alter table ${names.chunks} add column if not exists ${column} ${type}` },
      { text: `alter table ${names.chunks} alter column ${column} set storage main` },
    ]),
  ];
}
