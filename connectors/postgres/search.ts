import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SearchHit, SearchQuery } from '../../src/contracts/chunk-search.js';
import { chunkColumns, chunkOf } from './chunk-row.js';
import type { SqlConnection, SqlRow, SqlStatement } from './connection.js';
import { tenantColumn } from './config-columns.js';
import { filterSql } from './filter.js';
import { halfFault } from './half-floats.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import { tenantAsked, tenantIndexName } from './tenants.js';
import type { TableNames } from './names.js';
import { indexedDistance } from './vector-index.js';
import { vectorFault } from '../../src/elements/vector-fault.js';

/**
 * Nearest chunks by cosine. With an index its scan goes on until k hits passed the filter; what an approximate search
 * could still miss, an exact one finds.
 */
export async function searchChunks(
  connection: SqlConnection,
  names: TableNames,
  found: FoundLayout,
  space: FoundSpace,
  query: SearchQuery,
  signal?: AbortSignal,
): Promise<readonly SearchHit[]> {
  checkQuery(query, space);
  const tenant = tenantAsked(found, query.filter ?? everything);
  const indexed = tenant === undefined ? space.indexed : found.indexes.has(tenantIndexName(space, tenant));
  if (indexed) {
    const steps = [indexSettings(query.k), hitsSql(names, found, query, space, { tenant })];
    const rows = (await connection.transaction(steps, signal)).at(-1)!;
    if (rows.length === query.k) return rows.map(hitOf);
  }
  const rows = await connection.query(hitsSql(names, found, query, space), signal);
  return rows.map(hitOf);
}

function checkQuery({ vector, k }: SearchQuery, { width, type }: FoundSpace): void {
  if (!Number.isInteger(k) || k < 1)
    throw new MillraceError('config_invalid', `A search asks for at least 1 hit, not ${k}.`);
  const fault = vectorFault(vector, width) ?? (type === 'halfvec' ? halfFault(vector) : undefined);
  if (fault !== undefined)
    throw new MillraceError('embedding_invalid', `The query's vector is unfit: ${fault}.`, {
      hint: 'Ask with the model that filled the store.',
    });
}

/** More candidates than hits, within pgvector's bounds, and no end to the scan before the hits are found. */
function indexSettings(k: number): SqlStatement {
  return {
    text: `select set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'strict_order', true),
                  set_config('hnsw.max_scan_tuples', '2147483647', true), set_config('enable_seqscan', 'off', true)`,
    values: [String(Math.min(1000, Math.max(100, 2 * k)))],
  };
}

const everything = { kind: 'all', of: [] } as const;

/** @param indexed searches through the index, of a tenant where one is given; else reads every chunk */
function hitsSql(
  names: TableNames,
  { key, columns }: FoundLayout,
  { vector, k, filter = everything }: SearchQuery,
  space: FoundSpace,
  indexed?: { readonly tenant: string | undefined },
): SqlStatement {
  const where = filterSql(filter, 4, columns);
  const { column, type } = space;
  const exact = `${column} <=> $2::${type}`;
  const values = [key, `[${vector.join(',')}]`, k, ...where.values];
  // Said once more as the condition of the index has it.
  const within =
    indexed?.tenant === undefined ? '' : ` and ${tenantColumn} = $${values.push(indexed.tenant)}`;
  const nearest = indexed
    ? `(select * from ${names.chunks} where pipeline = $1 and (${where.sql})${within}
        order by ${indexedDistance(space, '$2')} limit 2 * $3::int) as near where ${column} is not null`
    : `${names.chunks} where pipeline = $1 and ${column} is not null and (${where.sql})`;
  return {
    text: `select ${chunkColumns}, ${exact} as distance
           from ${nearest} order by distance, id limit $3::int`,
    values,
  };
}

function hitOf(row: SqlRow): SearchHit {
  return { ...chunkOf(row), score: 1 - (row['distance'] as number) };
}
