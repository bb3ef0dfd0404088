import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SearchHit, TermQuery } from '../../src/contracts/chunk-search.js';
import { chunkColumns, chunkOf } from './chunk-row.js';
import type { SqlConnection, SqlStatement, SqlValue } from './connection.js';
import { filterSql } from './filter.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import { quoteName, type TableNames } from './names.js';
import { searchIndexedTerms } from './search-indexed-terms.js';
import { addedSql, askedWords, termProducts } from './term-products.js';
import { lengthSql, termsColumn } from './terms-column.js';

/** Different words of a question that count; Postgres computes no more columns than 1,600. */
const mostWords = 1000;

/**
 * Best chunks by BM25 (k1 and b of the query; Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
 * Beyond", 2009, with Lucene's inverse document frequency, which is never below 0). All that it needs of the corpus is
 * counted while it searches, so nothing can be out of date: how many chunks hold each word, and the mean length.
 * @param asked spaces, of which a hit must be in one; those of the whole pipeline count for its frequencies all the same
 */
export async function searchTerms(
  connection: SqlConnection,
  names: TableNames,
  found: FoundLayout,
  asked: readonly FoundSpace[],
  query: TermQuery,
  signal?: AbortSignal,
): Promise<readonly SearchHit[]> {
  if (!Number.isInteger(query.k) || query.k < 1)
    throw new MillraceError('config_invalid', `A search asks for at least 1 hit, not ${query.k}.`);
  if (query.terms.ids.length === 0) return [];
  if (found.indexes.has(found.termsIndex)) {
    const hits = await searchIndexedTerms(connection, names, found, asked, query, signal);
    if (hits !== undefined) return hits;
  }
  const steps = [withoutCompiling, termsSql(names, found, asked, query)];
  const rows = (await connection.transaction(steps, signal)).at(-1)!;
  return rows.map((row) => ({ ...chunkOf(row), score: row['score'] as number }));
}

/** An expression a word takes longer to compile than to compute. The setting lasts for the transaction. */
const withoutCompiling: SqlStatement = { text: "select set_config('jit', 'off', true)" };

/** Reads the words of all chunks. */
function termsSql(
  names: TableNames,
  { key, columns }: FoundLayout,
  asked: readonly FoundSpace[],
  { terms: question, k, k1, b, filter = { kind: 'all', of: [] } }: TermQuery,
): SqlStatement {
  const words = askedWords(question, mostWords);
  const values: SqlValue[] = [key, k, k1, b];
  const products = termProducts(words, (value) => `$${values.push(value)}`);
  const { count } = products;
  const where = filterSql(filter, values.length + 1, columns);
  values.push(...where.values);
  const within = asked.map(({ column }) => `${column} is not null`).join(' or ');
  const found = products.names.map((name) => `${name} > 0`).join(' or ');
  const each = (sql: (at: number, asks: number) => string, by: string) =>
    words.map(({ asks }, at) => sql(at, asks)).join(by);
  return {
    text: `
with chunk as materialized (
  select id, length, ${products.names.join(', ')},
    case when ${found} then (within and (${where.sql})) is true end as wanted
  from (
    select id, ${['metadata', ...columns.map(({ name }) => quoteName(name))].join(', ')}, ${within} as within, ${lengthSql} as length, ${products.columns.join(', ')}
    from ${names.chunks} where pipeline = $1 and ${termsColumn} is not null offset 0
  ) as chunk
), corpus as materialized (
  select count(*)::float8 as size, avg(length) as mean from chunk
), held as (
  select ${each((at) => `(count(*) filter (where ${count(at)} > 0))::float8 as h${at}`, ', ')} from chunk
), rarity as materialized (
  select ${each((at, asks) => `${asks} * ln(1 + (size - h${at} + 0.5) / (h${at} + 0.5)) as r${at}`, ', ')}
  from held, corpus
), best as (
  select id, ${each((at) => addedSql(`r${at}`, count(at)), ' + ')} as score
  from (select chunk.*, $3::float8 * (1 - $4::float8 + $4::float8 * length / mean) as norm from chunk, corpus where wanted) as hit,
    rarity
  order by score desc, id limit $2::int
)
select ${chunkColumns}, score from best join ${names.chunks} using (id) where pipeline = $1 order by score desc, id`,
    values,
  };
}
