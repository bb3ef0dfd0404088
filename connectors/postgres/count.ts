import type { StoreCount } from '../../src/contracts/store.js';
import type { SqlConnection } from './connection.js';
import type { TableNames } from './names.js';

/** @param key of a generation */
export async function countDocuments(
  connection: SqlConnection,
  names: TableNames,
  key: string,
  signal?: AbortSignal,
): Promise<StoreCount> {
  const text = `select (select count(*)::int from ${names.ledger} where pipeline = $1 and state = 'stored') as documents,
                       (select count(*)::int from ${names.chunks} where pipeline = $1) as chunks`;
  const rows = await connection.query({ text, values: [key] }, signal);
  return rows[0] as unknown as StoreCount;
}
