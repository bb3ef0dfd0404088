import type { IndexPlan } from './index-plan.js';
import { quoteName, quoteText, type TableNames } from './names.js';
import { termsColumn } from './terms-column.js';

/**
 * The numbers of a chunk's words as a list, from the text of a sparse vector: `{7:2,9:1}/1000000000`, where they count from 1. Part
 * of the index, so stores in use hold it as it is.
 */
export const termIdsSql = `(string_to_array(ltrim(split_part(regexp_replace(${termsColumn}::text, ':[^,}]+', '', 'g'), '}', 1), '{'), ',')::int[])`;

/** How a word is named there. */
export function indexedTerm(id: number): number {
  return id + 1;
}

/** An inverted index (GIN): the chunks that each word is in. */
export function termsIndexPlan(names: TableNames, key: string, name: string): IndexPlan {
  return {
    name,
    counted: `${termsColumn} is not null`,
    bytesEach: 2_000,
    create: (concurrently) => ({
      text: `create index ${concurrently ? 'concurrently ' : ''}if not exists ${quoteName(name)}
             on ${names.chunks} using gin (${termIdsSql}) where pipeline = ${quoteText(key)}`,
    }),
  };
}
