import type { SqlStatement } from './connection.js';
import type { TableNames } from './names.js';
import { takeTurns } from './schema-sql.js';

/** The column of a pipeline's space by its place: pipelines share the table, and with it the columns. */
export function vectorColumn(space: number): string {
  return space === 0 ? 'embedding' : `embedding_${space + 1}`;
}

/** Columns for so many spaces. Vectors stay in the row, as those of the first space do. */
export function columnStatements(names: TableNames, spaces: number): readonly SqlStatement[] {
  const columns = Array.from({ length: spaces - 1 }, (_, at) => vectorColumn(at + 1));
  return [
    takeTurns,
    ...columns.flatMap((column) => [
      { text: `alter table ${names.chunks} add column if not exists ${column} vector` },
      { text: `alter table ${names.chunks} alter column ${column} set storage main` },
    ]),
  ];
}
