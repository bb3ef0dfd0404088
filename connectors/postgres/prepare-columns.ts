import { MillraceError } from '../../src/errors/millrace-error.js';
import type { FieldColumn, WantedColumns } from './config-columns.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import { shownField } from './field-column.js';
import { quoteName, type TableNames } from './names.js';
import { takeTurns } from './schema-sql.js';
import { aroundColumns } from './show-view.js';

/**
 * Makes the columns that are wanted, and removes those that shall go; others stay. Writers that are under way take them up
 * with their next write.
 * @throws MillraceError `store_layout` where a column of this name holds something else
 */
export async function prepareColumns(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  wanted: WantedColumns,
): Promise<void> {
  for (;;) {
    const before = await readColumns(connection, names, pipeline);
    for (const column of wanted.columns)
      checkColumn(
        column,
        before.find(({ name }) => name === column.name),
      );
    const gone = before.filter(({ name }) => wanted.dropped.includes(name));
    const after = [
      ...before
        .filter(({ name }) => !wanted.dropped.includes(name))
        .map((old) => wanted.columns.find(({ name }) => name === old.name) ?? old),
      ...wanted.columns.filter(({ name }) => before.every((old) => old.name !== name)),
    ];
    const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
    if (was === is) return;
    await checkTable(connection, names, after);
    // What is said anew of a column is looked through anew.
    const changed = [...gone, ...after].filter(
      (one) => !before.some((old) => JSON.stringify(old) === JSON.stringify(one)) || gone.includes(one),
    );
    const view = await aroundColumns(connection, names, pipeline, after);
    const steps = [
      takeTurns,
      {
        text: `update ${names.layout} set columns = $3::jsonb where pipeline = $1 and coalesce(columns, '[]') = $2::jsonb returning 1`,
        values: [pipeline, was, is],
        rows: 1,
      },
      {
        text: `update ${names.layout} set filled = filled - $3::text[] where pipeline = $1 or starts_with(pipeline, $2)`,
        values: [pipeline, `${pipeline}#`, changed.map(({ name }) => name)],
      },
      ...view.before,
      ...after.map(({ name, type }) => ({
        text: `alter table ${names.chunks} add column if not exists ${quoteName(name)} ${type}`,
      })),
      ...view.between,
      ...gone.map(({ name }) => dropSql(names, name)),
    ];
    if ((await change(connection, steps)).length === steps.length) return;
  }
}

async function change(connection: SqlConnection, steps: readonly SqlStatement[]) {
  try {
    return await connection.transaction(steps);
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== 'generation_refused') throw error;
    throw new MillraceError(
      'store_layout',
      `sink.columns: a column shall go that something made of the view shows (${error.message}).`,
      { cause: error, hint: 'Drop what was made of the view, start once, and make it again.' },
    );
  }
}

async function readColumns(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
): Promise<readonly FieldColumn[]> {
  const text = `select coalesce(columns, '[]') as columns from ${names.layout} where pipeline = $1`;
  const [row] = await connection.query({ text, values: [pipeline] });
  // In the order of a configuration's, to be compared as JSON.
  return (row!['columns'] as readonly FieldColumn[]).map(({ name, type, path, index, wrong }) => ({
    name,
    type,
    path,
    index,
    wrong,
  }));
}

function checkColumn(wanted: FieldColumn, found: FieldColumn | undefined): void {
  if (
    found === undefined ||
    (found.type === wanted.type && shownField(found.path) === shownField(wanted.path))
  )
    return;
  const shown = ({ type, path }: FieldColumn) => `${type} of the field ${shownField(path)}`;
  throw new MillraceError(
    'store_layout',
    `sink.columns: the column ${wanted.name} holds ${shown(found)}; now it shall hold ${shown(wanted)}.`,
    { hint: 'Give the new one another name, or say `drop` for the old one, start once, and name it again.' },
  );
}

/** Pipelines share the table. */
async function checkTable(
  connection: SqlConnection,
  names: TableNames,
  columns: readonly FieldColumn[],
): Promise<void> {
  const rows = await connection.query({
    text: `select attname::text as name, format_type(atttypid, atttypmod) as type from pg_attribute
           where attrelid = to_regclass($1) and attname = any($2::name[]) and not attisdropped`,
    values: [names.chunks, columns.map(({ name }) => name)],
  });
  for (const { name, type } of rows as unknown as readonly { name: string; type: string }[]) {
    const wanted = columns.find((column) => column.name === name)!;
    if (type === (wanted.type === 'timestamptz' ? 'timestamp with time zone' : wanted.type)) continue;
    throw new MillraceError(
      'store_layout',
      `sink.columns: the table of chunks has a column ${name} of type ${type} already; now it shall be ${wanted.type}.`,
      { hint: 'Give the column another name and say `field`, or use another `schema`.' },
    );
  }
}

/** Goes with the last pipeline that has it. */
function dropSql(names: TableNames, name: string): SqlStatement {
  return {
    text: `do $$ begin
      if not exists (select from ${names.layout}, jsonb_array_elements(coalesce(columns, '[]')) as c where c->>'name' = '${name}') then
        alter table ${names.chunks} drop column if exists ${quoteName(name)};
      end if;
    end $$`,
  };
}
