import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import type { FieldColumn } from './config-columns.js';
import { readLayout, type FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import {
  hideSql,
  lockViewSql,
  setShownSql,
  shownNameSql,
  shownSql,
  showSql,
  viewColumns,
} from './view-sql.js';

/**
 * Makes the view of a pipeline, brings it up to date, or removes it.
 * @param asked its name; false: none; undefined: as it was
 * @throws MillraceError `config_invalid` when something else has that name
 */
export async function showView(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  active: FoundLayout,
  asked: string | false | undefined,
): Promise<void> {
  const before = await shownName(connection, names, pipeline);
  const wanted = asked ?? before ?? false;
  const drop = before === undefined || before === wanted ? [] : [hideSql(names, before)];
  if (wanted === false) {
    if (before !== undefined)
      await connection.transaction([setShownSql(names, pipeline, active.generation, null), ...drop]);
    return;
  }
  const [there] = await connection.query(shownSql(names, pipeline, wanted));
  if (there !== undefined && there['ours'] !== true)
    throw new MillraceError(
      'config_invalid',
      `sink.view: ${JSON.stringify(wanted)} is the name of something else in schema ${names.schema}.`,
      { hint: 'Choose another name.' },
    );
  const current = String(there?.['columns']) === String(viewColumns(active));
  if (before === wanted && current) return;
  await connection.transaction([
    setShownSql(names, pipeline, active.generation, wanted),
    ...drop,
    showSql(names, pipeline, wanted, active),
  ]);
}

/**
 * What stands around a change of the columns of metadata fields, in its transaction: none where there is no view. Of columns
 * that go, nothing may be made of any more.
 */
export async function aroundColumns(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  columns: readonly FieldColumn[],
): Promise<{ readonly before: readonly SqlStatement[]; readonly between: readonly SqlStatement[] }> {
  const shown = await shownName(connection, names, pipeline);
  const active = await readLayout(connection, names, pipeline, 'active');
  if (shown === undefined || active === undefined) return { before: [], between: [] };
  return {
    before: [lockViewSql(names, shown)],
    between: [
      setShownSql(names, pipeline, active.generation, shown),
      showSql(names, pipeline, shown, { ...active, columns }),
    ],
  };
}

/** The name of the view that stands; undefined where there is none. */
export async function shownName(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const [row] = await connection.query(shownNameSql(names, pipeline), signal);
  return (row?.['shown'] as string | null | undefined) ?? undefined;
}
