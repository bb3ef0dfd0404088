import { termSpace } from '../../src/elements/terms.js';
import type { SqlConnection } from './connection.js';
import type { TableNames } from './names.js';
import { takeTurns } from './schema-sql.js';

/** The column of terms comes with the first pipeline that keeps them: numbers of words, and how often each occurs. */
export const termsColumn = 'terms';

/** How many words a chunk has: the sum of their counts. */
export const lengthSql = `${termsColumn} <+> '{}/${termSpace}'::sparsevec`;

export async function addTermsColumn(connection: SqlConnection, names: TableNames): Promise<void> {
  const there = await connection.query({
    text: 'select from pg_attribute where attrelid = to_regclass($1) and attname = $2',
    values: [names.chunks, termsColumn],
  });
  // Altering a table waits for all who use it, so only where there is something to alter.
  if (there.length > 0) return;
  await connection.transaction([
    takeTurns,
    { text: `alter table ${names.chunks} add column if not exists ${termsColumn} sparsevec` },
    { text: `alter table ${names.chunks} alter column ${termsColumn} set storage main` },
  ]);
}
