import { termSpace, type Terms } from '../../src/elements/terms.js';
import { mostCount } from './encode-terms.js';
import { termsColumn } from './terms-column.js';

/** A float holds 24 bits exactly: one product of sparse vectors tells the counts of four terms, in six bits each. */
const packed = 4;
const bits = 6;

/** A word of a question. */
export interface AskedWord {
  readonly id: number;
  /** How often the question has it. */
  readonly asks: number;
}

export function askedWords({ ids, counts }: Terms, most: number): readonly AskedWord[] {
  return Array.from(ids.slice(0, most), (id, at) => ({ id, asks: counts[at]! }));
}

export interface TermProducts {
  /** Columns `p0`, `p1`, … of a chunk, each with the counts of some words. */
  readonly columns: readonly string[];
  /** Columns as a list of a select, to be named by others. */
  readonly names: readonly string[];
  /** How often a chunk has the word at this place of the question, from these columns. */
  count(word: number): string;
}

/**
 * What a word adds to the score of a chunk by BM25.
 * @param rarity its weight, @param count how often the chunk has it; both expressions, beside a column `norm` and k1 in $3
 */
export function addedSql(rarity: string, count: string): string {
  // With a k1 of 0 there is no norm, and nothing to divide by where the chunk has not got the word.
  return `coalesce(${rarity} * ${count} * ($3::float8 + 1) / nullif(${count} + norm, 0), 0)`;
}

/** @param parameter takes a value and gives its place in the statement */
export function termProducts(
  words: readonly AskedWord[],
  parameter: (value: string) => string,
): TermProducts {
  const packs = Array.from({ length: Math.ceil(words.length / packed) }, (_, at) =>
    words.slice(at * packed, (at + 1) * packed),
  );
  const names = packs.map((_, at) => `p${at}`);
  return {
    names,
    columns: packs.map((pack, at) => {
      const vector = pack.map(({ id }, place) => `${id + 1}:${2 ** (bits * place)}`).join(',');
      const asked = parameter(`{${vector}}/${termSpace}`);
      return `(-(${termsColumn} <#> ${asked}::sparsevec))::int as ${names[at]}`;
    }),
    count: (word) => `(p${Math.floor(word / packed)} >> ${(word % packed) * bits} & ${mostCount})`,
  };
}
