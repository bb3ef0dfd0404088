import type { SqlStatement } from './connection.js';
import { quoteName, type TableNames } from './names.js';

/** An index on the chunks of a generation that is made once it pays. */
export interface IndexPlan {
  readonly name: string;
  /** Condition of the chunks that count, beside their generation. */
  readonly counted: string;
  /** Memory that building it takes for each of them. */
  readonly bytesEach: number;
  /** @param concurrently writers go on while it is built */
  create(concurrently: boolean): SqlStatement;
}

/** Removes what a build that was cut off left behind, or an index that is not needed any more. */
export function dropIndexSql(names: TableNames, index: string, concurrently: boolean): SqlStatement {
  return {
    text: `drop index ${concurrently ? 'concurrently ' : ''}if exists ${names.schema}.${quoteName(index)}`,
  };
}
