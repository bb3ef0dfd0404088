import { chunkColumns } from './encode.js';
import type { SqlStatement } from './connection.js';
import { vectorColumn } from './vector-columns.js';

/** The table that chunks are copied into before they are merged: one of the session, empty after each transaction. */
export interface Stage {
  readonly table: string;
  /** Of the vectors, in the order of the spaces. */
  readonly columns: readonly string[];
  readonly make: SqlStatement;
  /** What a COPY into it names. */
  readonly target: string;
}

/** A session may serve pipelines of several numbers of spaces: each number has a table of its own. */
export function stageFor(spaces: number): Stage {
  const name = `millrace_stage_${spaces}`;
  const columns = Array.from({ length: spaces }, (_, at) => vectorColumn(at));
  const table = `pg_temp.${name}`;
  return {
    table,
    columns,
    target: `${table} (write, ${chunkColumns}, ${columns.join(', ')})`,
    make: {
      text: `do $$ begin
    if to_regclass('${table}') is null then
      create temp table ${name} (
        write int, id uuid, ordinal int, "start" int, "end" int, tokens int,
        hash text, text text, metadata jsonb, ${columns.map((column) => `${column} vector`).join(', ')}
      ) on commit delete rows;
      alter table ${name} ${columns.map((column) => `alter column ${column} set storage main`).join(', ')},
        set (toast_tuple_target = 8160);
    end if;
  end $$`,
    },
  };
}
