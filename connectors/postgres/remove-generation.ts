import type { SqlConnection, SqlStatement } from './connection.js';
import { indexNames } from './generation-indexes.js';
import { generationKey } from './generation-key.js';
import { dropIndexSql } from './index-plan.js';
import type { FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import { transactByKey } from './transact-by-key.js';

export interface RemovalOptions {
  readonly connection: SqlConnection;
  readonly names: TableNames;
  readonly pipeline: string;
  /** Others go on while an index is dropped. */
  readonly concurrently: boolean;
}

/** Rows of one step: a statement that anybody can wait for. */
const removedAtOnce = 5_000;

/**
 * Removes all rows and indexes of a generation that nobody uses any more; may be done again where it was cut off.
 * @param found its layout, where there is one still
 */
export async function removeGeneration(
  { connection, names, pipeline, concurrently }: RemovalOptions,
  number: number,
  found: FoundLayout | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const key = generationKey(pipeline, number);
  for (const index of found === undefined ? [] : indexNames(found))
    await connection.query(dropIndexSql(names, index, concurrently), signal);
  for (const table of [names.chunks, names.ledger])
    for (let removed = removedAtOnce; removed === removedAtOnce;) {
      const { rows } = await transactByKey(connection, [removeSql(table, key)], signal);
      removed = rows[0]!['rows'] as number;
    }
  await transactByKey(connection, forgetSql(names, pipeline, number, key), signal);
}

/** Some of the rows in a table. @returns how many they were */
function removeSql(table: string, key: string): SqlStatement {
  return {
    text: `with gone as (
             delete from ${table} where ctid = any(array(select ctid from ${table} where pipeline = $1 limit $2)) returning 1
           ) select count(*)::int as rows from gone`,
    values: [key, removedAtOnce],
  };
}

/** What is left of a generation once its chunks and its ledger are gone. The row of the first is the head of the pipeline. */
function forgetSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  key: string,
): readonly SqlStatement[] {
  const own = generation === 1 ? "and name = 'chain'" : '';
  return [
    {
      text: `delete from ${names.behind} where pipeline = $1 and generation = $2`,
      values: [pipeline, generation],
    },
    { text: `delete from ${names.artifacts} where pipeline = $1 ${own}`, values: [key] },
    generation === 1
      ? { text: `update ${names.layout} set state = 'gone' where pipeline = $1`, values: [key] }
      : { text: `delete from ${names.layout} where pipeline = $1`, values: [key] },
  ];
}
