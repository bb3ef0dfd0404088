import type { SearchHit, TermQuery } from '../../src/contracts/chunk-search.js';
import { chunkColumns, chunkOf } from './chunk-row.js';
import type { SqlConnection, SqlRow, SqlStatement, SqlValue } from './connection.js';
import { filterSql } from './filter.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import type { TableNames } from './names.js';
import { addedSql, askedWords, termProducts, type AskedWord } from './term-products.js';
import { lengthSql } from './terms-column.js';
import { indexedTerm, termIdsSql } from './terms-index.js';

/** A question of more different words is near to every chunk: reading them all takes no longer. */
const mostWords = 64;
/** Chunks that the first look takes in, for each hit. */
const firstLook = 4;
/** So much more than the rest could give must a hit score, since sums of floats are rounded. */
const margin = 1 + 1e-9;

/**
 * The hits of the exact search, found through the index of the words. A chunk that holds none of some words of the question
 * scores less than the others could give at most, so the rare words are looked up first, and further ones only while what
 * is left of the question could still lift a chunk among the hits (Turtle and Flood, "Query evaluation: strategies and
 * optimizations", 1995: MaxScore).
 * @returns undefined where it cannot tell: a question of very many words, or words that were not counted yet
 */
export async function searchIndexedTerms(
  connection: SqlConnection,
  names: TableNames,
  found: FoundLayout,
  asked: readonly FoundSpace[],
  query: TermQuery,
  signal?: AbortSignal,
): Promise<readonly SearchHit[] | undefined> {
  const words = askedWords(query.terms, mostWords + 1);
  if (words.length > mostWords) return undefined;
  const ask = async (statement: SqlStatement) =>
    (await connection.transaction([byIndex, statement], signal)).at(-1)!;
  const [row] = await ask(corpusSql(names, found.key, words));
  const corpus = row as unknown as Corpus;
  if (corpus.uncounted) return undefined;
  const weighed = weigh(words, corpus, query.k1);
  const { rest } = weighed;
  const { k } = query;
  if (weighed.words.length === 0) return [];

  let looked = atLeast(weighed, Math.max(100, firstLook * k));
  for (;;) {
    const rows = await ask(
      hitsSql(names, found, asked, query, { ...weighed, looked, mean: corpus.words / corpus.size }),
    );
    const least = rows.length === k ? (rows.at(-1)!['score'] as number) : 0;
    if (rest[looked]! * margin < least || looked === weighed.words.length) return rows.map(hitOf);
    const enough = rest.findIndex((most, at) => at > looked && most * margin < least);
    looked = enough > 0 ? enough : Math.min(weighed.words.length, 2 * looked);
  }
}

interface Corpus {
  readonly size: number;
  readonly words: number;
  readonly uncounted: boolean;
  /** In how many chunks each word is. */
  readonly held: readonly number[];
  /** Its inverse document frequency. */
  readonly rarity: readonly number[];
}

interface WeighedWord extends AskedWord {
  readonly rarity: number;
  readonly held: number;
}

interface Weighed {
  /** Those that some chunk holds, in the order of the question: sums of floats depend on it. */
  readonly words: readonly WeighedWord[];
  /** The same by what they can give, most first. */
  readonly byWeight: readonly WeighedWord[];
  /** What all of these from a place on can give at most; at the end 0. */
  readonly rest: readonly number[];
}

function weigh(asked: readonly AskedWord[], { held, rarity }: Corpus, k1: number): Weighed {
  const words = asked
    .map((word, at) => ({ ...word, held: held[at]!, rarity: word.asks * rarity[at]! }))
    .filter((word) => word.held > 0);
  const byWeight = [...words].sort((a, b) => b.rarity - a.rarity);
  const rest = [0];
  for (const one of [...byWeight].reverse()) rest.unshift(rest[0]! + one.rarity * (k1 + 1));
  return { words, byWeight, rest };
}

/** How many of the first words are held so often together. */
function atLeast({ byWeight }: Weighed, chunks: number): number {
  let sum = 0;
  const at = byWeight.findIndex(({ held }) => (sum += held) >= chunks);
  return at === -1 ? byWeight.length : at + 1;
}

/** Bitmaps of chunks as a whole, which need not look at a chunk again. The settings last for the transaction. */
const byIndex: SqlStatement = {
  text: `select set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('work_mem', '256MB', true)`,
};

function corpusSql(names: TableNames, key: string, words: readonly AskedWord[]): SqlStatement {
  const held = words.map(
    (_, at) =>
      `(select count(*)::float8 from ${names.chunks} where pipeline = $1 and ${termIdsSql} @> array[$${at + 2}::int])`,
  );
  return {
    text: `select *, array(
             select ln(1 + (size - h + 0.5) / (h + 0.5)) from unnest(held) with ordinality as w (h, place) order by place
           ) as rarity from (
             select coalesce(sum(chunk_count), 0)::float8 as size, coalesce(sum(words), 0)::float8 as words,
               coalesce(bool_or(words is null and chunk_count > 0), false) as uncounted, array[${held.join(', ')}] as held
             from ${names.ledger} where pipeline = $1
           ) as corpus`,
    values: [key, ...words.map(({ id }) => indexedTerm(id))],
  };
}

interface Look extends Weighed {
  /** Chunks with one of so many of the words. */
  readonly looked: number;
  readonly mean: number;
}

function hitsSql(
  names: TableNames,
  { key, columns }: FoundLayout,
  asked: readonly FoundSpace[],
  { k, k1, b, filter = { kind: 'all', of: [] } }: TermQuery,
  { words, byWeight, looked, mean }: Look,
): SqlStatement {
  const values: SqlValue[] = [
    key,
    k,
    k1,
    b,
    mean,
    byWeight.slice(0, looked).map(({ id }) => indexedTerm(id)),
  ];
  const parameter = (value: SqlValue) => `$${values.push(value)}`;
  const products = termProducts(words, parameter);
  const added = words.map(({ rarity }, at) => addedSql(`${parameter(rarity)}::float8`, products.count(at)));
  const where = filterSql(filter, values.length + 1, columns);
  const within = asked.map(({ column }) => `${column} is not null`).join(' or ');
  return {
    text: `
with best as (
  select id, ${added.join(' + ')} as score from (
    select id, ${products.columns.join(', ')},
      $3::float8 * (1 - $4::float8 + $4::float8 * (${lengthSql}) / $5::float8) as norm
    from ${names.chunks}
    where pipeline = $1 and ${termIdsSql} && $6::int[] and (${within}) and (${where.sql}) offset 0
  ) as chunk
  order by score desc, id limit $2::int
)
select ${chunkColumns}, score from best join ${names.chunks} using (id) where pipeline = $1 order by score desc, id`,
    values: [...values, ...where.values],
  };
}

function hitOf(row: SqlRow): SearchHit {
  return { ...chunkOf(row), score: row['score'] as number };
}
