import { MillraceError } from '../../src/errors/millrace-error.js';
import type { SqlConnection } from './connection.js';
import type { FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import { hideSql, setShownSql, shownNameSql, shownSql, showSql } from './view-sql.js';

/**
 * Makes the view of a pipeline, or removes it. @param wanted its name; false: none
 * @throws MillraceError `config_invalid` when something else has that name
 */
export async function showView(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  active: FoundLayout,
  wanted: string | false,
): Promise<void> {
  const before = await shownName(connection, names, pipeline);
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
  if (there !== undefined && before === wanted) return;
  await connection.transaction([
    setShownSql(names, pipeline, active.generation, wanted),
    ...drop,
    showSql(names, pipeline, wanted, active),
  ]);
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
