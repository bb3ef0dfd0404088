import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { TableMapping } from './config.js';
import type { SqlSession } from './sql-session.js';

/** A table that is there, and how its rows become documents. */
export interface Table {
  readonly mapping: TableMapping;
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly partitioned: boolean;
  readonly id: readonly string[];
  /** The same columns in the order of their index. */
  readonly key: readonly string[];
  /** As they are now; generated ones are left out, since the stream does not carry them. */
  readonly columns: readonly TableColumn[];
}

export interface TableColumn {
  readonly name: string;
  /** The oid of its type. */
  readonly type: number;
}

const tableSql = `
  select c.oid::int8, n.nspname, c.relname, c.relkind, c.relpersistence
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass($1)`;

const columnsSql = `
  select attname, atttypid::int8, attnotnull, attgenerated
  from pg_attribute where attrelid = $1::oid and attnum > 0 and not attisdropped order by attnum`;

/** Unique keys as JSON lists of their columns, the primary one first. */
const keysSql = `
  select to_json(array(
    select a.attname from unnest(i.indkey::int2[]) with ordinality k (attnum, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where k.place <= i.indnkeyatts order by k.place))::text, i.indisprimary
  from pg_index i where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indimmediate
    and i.indpred is null and i.indexprs is null
  order by i.indisprimary desc, i.indexrelid`;

/** What identifies a deleted row: of the table, or of each of its leaves. */
const identitySql = `
  select l.oid::regclass::text, l.relreplident, to_json(array(
    select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = l.oid
      and ((l.relreplident = 'd' and i.indisprimary) or (l.relreplident = 'i' and i.indisreplident))))::text
  from pg_class l
  where l.oid = $1::oid and l.relkind = 'r'
     or l.oid in (select relid from pg_partition_tree($1::oid) where isleaf) and l.relkind = 'r'`;

/** @throws MillraceError `config_invalid` when the table cannot serve, or the mapping does not fit it */
export async function inspectTable(sql: SqlSession, mapping: TableMapping): Promise<Table> {
  const invalid = (message: string, hint: string) => new MillraceError('config_invalid', message, { hint });
  const [found] = await sql.rows(tableSql, [mapping.table]);
  if (found === undefined)
    throw invalid(
      `There is no table ${mapping.table}.`,
      'Name it with its schema (`shop.articles`), and grant USAGE on the schema and SELECT on the table.',
    );
  const [oid, schema, name, kind, persistence] = found as [string, string, string, string, string];
  const called = `${schema}.${name}`;
  if (!['r', 'p'].includes(kind) || persistence !== 'p')
    throw invalid(
      `${called} is no ordinary table: its changes are not in the log.`,
      'Views, foreign, temporary and unlogged tables cannot be followed: name the tables beneath.',
    );

  const rows = await sql.rows(columnsSql, [oid]);
  const columns = rows.flatMap(([column, type, , generated]) =>
    generated === '' ? [{ name: column!, type: Number(type) }] : [],
  );
  const keys = (await sql.rows(keysSql, [oid])).map(([list, primary]) => ({
    columns: JSON.parse(list!) as string[],
    primary: primary === 't',
  }));
  const id = mapping.id ?? keys.find(({ primary }) => primary)?.columns;
  if (id === undefined)
    throw invalid(`${called} has no primary key.`, 'Give it one, or name unique columns in `id`.');
  const named = [...id, ...mapping.text, ...(mapping.metadata === 'rest' ? [] : mapping.metadata)];
  for (const column of named) {
    if (columns.some((one) => one.name === column)) continue;
    const generated = rows.some(([one]) => one === column);
    throw invalid(
      `${called} has ${generated ? 'a generated column' : 'no column'} ${column}.`,
      generated
        ? 'The log does not carry generated columns: name those that it is made of.'
        : `Its columns are ${columns.map((one) => one.name).join(', ')}.`,
    );
  }
  const nullable = id.filter((column) => rows.some(([one, , notNull]) => one === column && notNull !== 't'));
  const key = keys.find(({ columns: some }) => sameSet(some, id))?.columns;
  if (nullable.length > 0 || key === undefined)
    throw invalid(
      `The id of ${called} (${id.join(', ')}) does not name one row for sure.`,
      'It must be the primary key, or columns that are NOT NULL and have a unique index of their own.',
    );
  for (const [leaf, identity, list] of await sql.rows(identitySql, [oid])) {
    const identifying = JSON.parse(list!) as string[];
    if (identity === 'f' || id.every((column) => identifying.includes(column))) continue;
    throw identityMissing(leaf!, id);
  }
  return { mapping, oid: Number(oid), schema, name, partitioned: kind === 'p', id, key, columns };
}

export function identityMissing(table: string, id: readonly string[]): MillraceError {
  return new MillraceError(
    'config_invalid',
    `The replica identity of ${table} leaves out the id (${id.join(', ')}): a deleted row could not be told.`,
    { hint: `alter table ${table} replica identity default (where the id is the primary key), or full.` },
  );
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}
