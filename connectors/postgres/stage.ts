import { chunkColumns } from './encode.js';
import type { SqlStatement } from './connection.js';
import { termsColumn } from './terms-column.js';
import { vectorColumn, type VectorType } from './vector-columns.js';

/** The table that chunks are copied into before they are merged: one of the session, empty after each transaction. */
export interface Stage {
  readonly table: string;
  /** Of the vectors, in the order of the spaces. */
  readonly columns: readonly string[];
  /** Beside `chunkColumns` and the vectors: the terms, where chunks have them. */
  readonly more: readonly string[];
  readonly make: SqlStatement;
  /** What a COPY into it names. */
  readonly target: string;
}

/** A session may serve pipelines of several numbers of spaces, with terms and without: each has a table of its own. */
export function stageFor(spaces: number, type: VectorType, terms: boolean): Stage {
  const name = `millrace_stage_${type}_${spaces}${terms ? '_terms' : ''}`;
  const more = terms ? [termsColumn] : [];
  const columns = Array.from({ length: spaces }, (_, at) => vectorColumn(at, type));
  const table = `pg_temp.${name}`;
  return {
    table,
    columns,
    more,
    target: `${table} (write, ${[chunkColumns, ...columns, ...more].join(', ')})`,
    make: {
      text: `do $$ begin
    if to_regclass('${table}') is null then
      create temp table ${name} (
        write int, id uuid, ordinal int, "start" int, "end" int, tokens int,
        hash text, text text, prefix text, metadata jsonb, ${[...columns.map((column) => `${column} ${type}`), ...more.map((column) => `${column} sparsevec`)].join(', ')}
      ) on commit delete rows;
      alter table ${name} ${[...columns, ...more].map((column) => `alter column ${column} set storage main`).join(', ')},
        set (toast_tuple_target = 8160);
    end if;
  end $$`,
    },
  };
}
