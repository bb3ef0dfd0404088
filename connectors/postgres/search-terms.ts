import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SearchHit, TermQuery } from '../../src/contracts/chunk-search.js';
import { termSpace } from '../../src/elements/terms.js';
import { chunkColumns, chunkOf } from './chunk-row.js';
import type { SqlConnection, SqlStatement, SqlValue } from './connection.js';
import { mostCount } from './encode-terms.js';
import { filterSql } from './filter.js';
import type { FoundSpace } from './layout.js';
import type { TableNames } from './names.js';
import { termsColumn as terms } from './terms-column.js';

/** A float holds 24 bits exactly: one product of sparse vectors tells the counts of four terms, in six bits each. */
const packed = 4;
const bits = 6;
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
  pipeline: string,
  asked: readonly FoundSpace[],
  query: TermQuery,
  signal?: AbortSignal,
): Promise<readonly SearchHit[]> {
  if (!Number.isInteger(query.k) || query.k < 1)
    throw new MillraceError('config_invalid', `A search asks for at least 1 hit, not ${query.k}.`);
  if (query.terms.ids.length === 0) return [];
  const steps = [withoutCompiling, termsSql(names, pipeline, asked, query)];
  const rows = (await connection.transaction(steps, signal)).at(-1)!;
  return rows.map((row) => ({ ...chunkOf(row), score: row['score'] as number }));
}

/** An expression a word takes longer to compile than to compute. The setting lasts for the transaction. */
const withoutCompiling: SqlStatement = { text: "select set_config('jit', 'off', true)" };

function termsSql(
  names: TableNames,
  pipeline: string,
  asked: readonly FoundSpace[],
  { terms: question, k, k1, b, filter = { kind: 'all', of: [] } }: TermQuery,
): SqlStatement {
  const words = Array.from(question.ids.slice(0, mostWords), (id, at) => ({
    id,
    at,
    count: question.counts[at]!,
  }));
  const packs = Array.from({ length: Math.ceil(words.length / packed) }, (_, at) =>
    words.slice(at * packed, (at + 1) * packed),
  );
  const values: SqlValue[] = [pipeline, k, k1, b];
  const parameter = (value: SqlValue) => `$${values.push(value)}`;
  const products = packs.map((pack, at) => {
    const vector = pack.map(({ id }, place) => `${id + 1}:${2 ** (bits * place)}`).join(',');
    return `(-(${terms} <#> ${parameter(`{${vector}}/${termSpace}`)}::sparsevec))::int as p${at}`;
  });
  const count = (word: number) =>
    `(p${Math.floor(word / packed)} >> ${(word % packed) * bits} & ${mostCount})`;
  const where = filterSql(filter, values.length + 1);
  values.push(...where.values);
  const within = asked.map(({ column }) => `${column} is not null`).join(' or ');
  const found = packs.map((_, at) => `p${at} > 0`).join(' or ');
  const each = (sql: (word: (typeof words)[number]) => string, by: string) => words.map(sql).join(by);
  return {
    text: `
with chunk as materialized (
  select id, length, ${packs.map((_, at) => `p${at}`).join(', ')},
    case when ${found} then (within and (${where.sql})) is true end as wanted
  from (
    select id, metadata, ${within} as within, ${terms} <+> '{}/${termSpace}'::sparsevec as length, ${products.join(', ')}
    from ${names.chunks} where pipeline = $1 and ${terms} is not null offset 0
  ) as chunk
), corpus as materialized (
  select count(*)::float8 as size, avg(length) as mean from chunk
), held as (
  select ${each(({ at }) => `(count(*) filter (where ${count(at)} > 0))::float8 as h${at}`, ', ')} from chunk
), rarity as materialized (
  select ${each(({ at, count: asks }) => `${asks} * ln(1 + (size - h${at} + 0.5) / (h${at} + 0.5)) as r${at}`, ', ')}
  from held, corpus
), best as (
  select id, ${each(({ at }) => `r${at} * ${count(at)} * ($3::float8 + 1) / (${count(at)} + norm)`, ' + ')} as score
  from (select chunk.*, $3::float8 * (1 - $4::float8 + $4::float8 * length / mean) as norm from chunk, corpus where wanted) as hit,
    rarity
  order by score desc, id limit $2::int
)
select ${chunkColumns}, score from best join ${names.chunks} using (id) where pipeline = $1 order by score desc, id`,
    values,
  };
}
