import { createHash } from 'node:crypto';
import { chunkColumns, type RowShape } from './encode.js';
import type { SqlStatement } from './connection.js';
import type { FieldColumn } from './config-columns.js';
import { quoteName } from './names.js';
import { termsColumn } from './terms-column.js';
import { vectorColumn } from './vector-columns.js';

/** The table that chunks are copied into before they are merged: one of the session, empty after each transaction. */
export interface Stage {
  readonly table: string;
  /** Of the vectors, in the order of the spaces. */
  readonly columns: readonly string[];
  /** Beside `chunkColumns` and the vectors: the terms, where chunks have them, and metadata fields. */
  readonly more: readonly string[];
  readonly make: SqlStatement;
  /** What a COPY into it names. */
  readonly target: string;
}

/** A session may serve pipelines of several shapes: each has a table of its own. */
export function stageFor({ spaces, vectors: type, terms, columns: fields }: RowShape): Stage {
  const typed = [
    ...(terms ? [{ name: termsColumn, type: 'sparsevec' }] : []),
    ...fields.map((field) => ({ name: quoteName(field.name), type: field.type })),
  ];
  const name = `millrace_stage_${type}_${spaces.length}${terms ? '_terms' : ''}${digestOf(fields)}`;
  const more = typed.map((one) => one.name);
  const columns = spaces.map((_, at) => vectorColumn(at, type));
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
        hash text, text text, prefix text, metadata jsonb, ${[...columns.map((column) => `${column} ${type}`), ...typed.map((one) => `${one.name} ${one.type}`)].join(', ')}
      ) on commit delete rows;
      alter table ${name} ${[...columns, ...(terms ? [termsColumn] : [])].map((column) => `alter column ${column} set storage main`).join(', ')},
        set (toast_tuple_target = 8160);
    end if;
  end $$`,
    },
  };
}

function digestOf(columns: readonly FieldColumn[]): string {
  if (columns.length === 0) return '';
  const all = columns.map(({ name, type }) => `${name} ${type}`).join();
  return `_${createHash('sha256').update(all).digest('hex').slice(0, 16)}`;
}
