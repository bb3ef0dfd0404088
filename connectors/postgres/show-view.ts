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
  const look = async (view: string) => (await connection.query(shownSql(names, pipeline, view)))[0];
  const drop =
    before !== undefined && before !== wanted && (await look(before))?.['ours'] === true
      ? [hideSql(names, before)]
      : [];
  if (wanted === false) {
    if (before !== undefined)
      await connection.transaction([setShownSql(names, pipeline, active.generation, null), ...drop]);
    return;
  }
  const there = await look(wanted);
  const taken = there !== undefined && there['ours'] !== true;
  // Nobody asked for it now: who took its name may have it.
  if (taken && asked === undefined) return;
  if (taken)
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
 * What stands around a change of the columns of metadata fields, in its transaction: none where there is no view, or
 * something else has its name by now. Of columns that go, nothing may be made of any more.
 */
export async function aroundColumns(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  columns: readonly FieldColumn[],
): Promise<{ readonly before: readonly SqlStatement[]; readonly between: readonly SqlStatement[] }> {
  const none = { before: [], between: [] };
  const shown = await shownName(connection, names, pipeline);
  if (shown === undefined) return none;
  const [there] = await connection.query(shownSql(names, pipeline, shown));
  const active = await readLayout(connection, names, pipeline, 'active');
  if ((there !== undefined && there['ours'] !== true) || active === undefined) return none;
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
