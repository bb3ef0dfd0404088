import type { SqlConnection } from './connection.js';
import type { TableNames } from './names.js';
import { lengthSql } from './terms-column.js';

/** Documents of one statement. */
const atOnce = 1_000;

/**
 * Counts the words of documents that an earlier layout wrote, which did not keep their number. Those that are being written
 * are left to the next time.
 * @param key of the generation
 */
export async function countWords(
  connection: SqlConnection,
  names: TableNames,
  key: string,
  signal?: AbortSignal,
): Promise<void> {
  const text = `
    with counted as (
      update ${names.ledger} l set words = (
        select coalesce(sum(${lengthSql}), 0)::int from ${names.chunks} c
        where c.pipeline = l.pipeline and c.document_id = l.document_id)
      where pipeline = $1 and words is null and document_id = any(array(
        select document_id from ${names.ledger} where pipeline = $1 and words is null limit $2 for update skip locked))
      returning 1
    ) select count(*)::int as documents from counted`;
  for (;;) {
    const [row] = await connection.query({ text, values: [key, atOnce] }, signal);
    if (row!['documents'] === 0) return;
  }
}
