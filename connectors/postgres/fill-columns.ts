import type { Notice } from '../../src/contracts/context.js';
import { mostTextBytes } from './column-value.js';
import type { SqlConnection } from './connection.js';
import type { ColumnType } from './config-columns.js';
import { fieldSql, shownField, type FoundColumn } from './field-column.js';
import type { FoundLayout } from './layout.js';
import { quoteName, quoteText, type TableNames } from './names.js';
import { timeSql } from './time-sql.js';

/** Documents of one statement. */
const atOnce = 500;

/**
 * Brings the fields of chunks that were written before into their columns, and finds out whether some hold what the column
 * cannot. It may be cut off and begun again: a column says less than the JSON until it is done, never something else.
 */
export async function fillColumns(
  connection: SqlConnection,
  names: TableNames,
  { key, columns }: FoundLayout,
  notify: (notice: Notice) => void,
  signal?: AbortSignal,
): Promise<void> {
  const open = columns.filter(({ filled }) => filled === undefined);
  if (open.length === 0) return;
  const wrong = new Map(open.map(({ name }) => [name, 0]));
  const text = fillSql(names, open);
  for (let after = ''; ;) {
    const steps = [{ text, values: [key, after, atOnce] }];
    const [row] = (await connection.transaction(steps, signal)).at(-1)!;
    for (const [at, { name }] of open.entries())
      wrong.set(name, wrong.get(name)! + Number(row![`wrong_${at}`]));
    if (row!['last'] === null) break;
    after = row!['last'] as string;
  }
  const filled = Object.fromEntries(
    open.map(({ name, wrong: how }) => [name, how === 'fail' && wrong.get(name) === 0 ? 'whole' : 'mixed']),
  );
  for (const { name, type, path, wrong: how } of open)
    if (how === 'fail' && wrong.get(name)! > 0)
      notify({
        level: 'warn',
        code: 'store_column_mixed',
        message: `${wrong.get(name)} chunks that were stored before hold something else than ${type} in ${shownField(path)}: their column ${name} is empty, and filters look into their JSON.`,
      });
  await connection.query(
    {
      text: `update ${names.layout} set filled = coalesce(filled, '{}') || $2::jsonb where pipeline = $1`,
      values: [key, JSON.stringify(filled)],
    },
    signal,
  );
}

/** Ledger rows are locked in their order, as writers do: nobody finds a chunk elsewhere than where he saw it. */
function fillSql(names: TableNames, columns: readonly FoundColumn[]): string {
  const values = columns.map(({ type, path }) => valueSql(type, fieldSql(path, quoteText)));
  const column = (at: number) => quoteName(columns[at]!.name);
  return `
with next as materialized (
  select document_id from ${names.ledger} where pipeline = $1 and document_id > $2
  order by document_id limit $3 for update
), filled as (
  update ${names.chunks} k set ${values.map((value, at) => `${column(at)} = coalesce(k.${column(at)}, ${value})`).join(', ')}
  from next where k.pipeline = $1 and k.document_id = next.document_id
    and (${values.map((value, at) => `(k.${column(at)} is null and ${value} is not null)`).join(' or ')})
), seen as (
  select ${columns
    .map(({ path }, at) => {
      const field = fieldSql(path, quoteText);
      return `count(*) filter (where ${field} <> 'null' and ${values[at]} is null) as wrong_${at}`;
    })
    .join(', ')}
  from ${names.chunks} where pipeline = $1 and document_id in (select document_id from next)
)
select (select max(document_id) from next) as last, seen.* from seen`;
}

/** The field as its column holds it; null where it holds something else. @param field an expression, JSON */
function valueSql(type: ColumnType, field: string): string {
  const text = `(${field} #>> '{}')`;
  const kind = `jsonb_typeof(${field})`;
  switch (type) {
    case 'text':
      return `case when ${kind} = 'string' and octet_length(${text}) <= ${mostTextBytes} then ${text} end`;
    case 'text[]':
      return `case when ${kind} = 'string' and octet_length(${text}) <= ${mostTextBytes} then array[${text}]
        when ${kind} = 'array' and not jsonb_path_exists(${field}, 'strict $[*] ? (@.type() != "string")')
          and not exists (select from jsonb_array_elements_text(${field}) as one where octet_length(one) > ${mostTextBytes})
          then array(select jsonb_array_elements_text(${field})) end`;
    case 'numeric':
      return `case when ${kind} = 'number' or ${kind} = 'string' and length(${text}) < 1000
          and ${text} ~ '^-?\\d+(\\.\\d+)?([eE][+-]?\\d{1,3})?$' then ${text}::numeric end`;
    case 'boolean':
      return `case ${kind} when 'boolean' then ${text}::boolean end`;
    case 'timestamptz':
      return `case ${kind} when 'string' then ${timeSql(text)} end`;
    default:
      return type satisfies never;
  }
}
