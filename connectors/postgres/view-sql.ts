import type { FieldColumn } from './config-columns.js';
import type { SqlStatement } from './connection.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import { quoteName, quoteText, type TableNames } from './names.js';
import { indexable, indexedDistanceType } from './vector-index.js';

/** The head remembers the name of the view, so that whoever switches makes it anew. */
export function viewColumnStatement(names: TableNames): string {
  return `alter table ${names.layout} add column if not exists shown text`;
}

/** Marks a view as ours: another one of that name is left alone. */
const mark = (pipeline: string) => `Chunks of the pipeline ${pipeline} that are read now; made by Millrace.`;

/** What a view shows. */
export interface Shown extends Pick<FoundLayout, 'key' | 'spaces'> {
  readonly columns: readonly Pick<FieldColumn, 'name'>[];
}

const own = ['id', 'document_id', 'ordinal', 'start', 'end', 'tokens', 'text', 'metadata'];

/** Names of the columns of a view. Those of metadata fields are last: only at the end Postgres adds some in place. */
export function viewColumns({ spaces, columns }: Omit<Shown, 'key'>): readonly string[] {
  const vectors = spaces.map((space) => columnName(space, spaces.length));
  return [...own, ...vectors, ...columns.map(({ name }) => name)];
}

/**
 * What other tools may read: the chunks of a generation with their vectors, in the form that its indexes know, and with the
 * columns of metadata fields. Where no column goes or changes it is replaced, and what was made of it stays; else it is
 * made anew, with the grants it had.
 */
export function showSql(names: TableNames, pipeline: string, view: string, shown: Shown): SqlStatement {
  const at = `${names.schema}.${quoteName(view)}`;
  const from = [
    ...own.map(quoteName),
    ...shown.spaces.map(exposed),
    ...shown.columns.map(({ name }) => quoteName(name)),
  ];
  const columns = viewColumns(shown).map((name, place) => `${from[place]} as ${quoteName(name)}`);
  const body = `select ${columns.join(', ')}
from ${names.chunks} where pipeline = ${quoteText(shown.key)}`;
  const quoted = (sql: string) => quoteText(sql);
  return {
    text: `do $millrace$
declare
  given aclitem[];
  one record;
begin
  begin
    execute ${quoted(`create or replace view ${at} as ${body}`)};
  exception when invalid_table_definition then
    select relacl into given from pg_class where oid = to_regclass(${quoted(at)});
    execute ${quoted(`drop view ${at}`)};
    execute ${quoted(`create view ${at} as ${body}`)};
    for one in select * from aclexplode(given) loop
      execute format('grant %s on %s to %s%s', one.privilege_type, ${quoted(at)},
        case one.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(one.grantee)) end,
        case when one.is_grantable then ' with grant option' else '' end);
    end loop;
  end;
  execute ${quoted(`comment on view ${at} is ${quoteText(mark(pipeline))}`)};
end $millrace$`,
  };
}

function exposed(space: FoundSpace): string {
  return indexable(space.width) ? `${space.column}::${indexedDistanceType(space)}` : space.column;
}

function columnName({ name }: FoundSpace, spaces: number): string {
  return spaces === 1 ? 'embedding' : `embedding_${name}`;
}

/** What has this name already: no row for nothing, else whether it is the view of this pipeline, and its columns. */
export function shownSql(names: TableNames, pipeline: string, view: string): SqlStatement {
  return {
    text: `select c.relkind = 'v' and obj_description(c.oid, 'pg_class') = $2 as ours,
                  array(select attname::text from pg_attribute
                        where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum) as columns
           from pg_class c where c.oid = to_regclass($1)`,
    values: [`${names.schema}.${quoteName(view)}`, mark(pipeline)],
  };
}

/** In the order of those who read it: the view, then its tables. */
export function lockViewSql(names: TableNames, view: string): SqlStatement {
  const at = `${names.schema}.${quoteName(view)}`;
  return {
    text: `do $millrace$ begin
  if to_regclass(${quoteText(at)}) is not null then execute ${quoteText(`lock table ${at} in access exclusive mode`)}; end if;
end $millrace$`,
  };
}

export function hideSql(names: TableNames, view: string): SqlStatement {
  return { text: `drop view if exists ${names.schema}.${quoteName(view)}` };
}

export function shownNameSql(names: TableNames, pipeline: string): SqlStatement {
  return { text: `select shown from ${names.layout} where pipeline = $1`, values: [pipeline] };
}

/** While the head says that this generation is active; no switch comes in between. */
export function setShownSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  view: string | null,
): SqlStatement {
  return {
    text: `update ${names.layout} set shown = $3 where pipeline = $1 and active = $2 returning 1`,
    values: [pipeline, generation, view],
    rows: 1,
  };
}
