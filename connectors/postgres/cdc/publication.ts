import { MillraceError } from '../../../src/errors/millrace-error.js';
import { sqlStateOf } from './sql-state.js';
import type { SqlSession } from './sql-session.js';
import type { Table } from './table.js';

/** What another process has made meanwhile: it was there when this one looked, or came while it was made. */
const duplicate: readonly (string | undefined)[] = ['42710', '23505'];

const publicationSql = `
  select pubinsert and pubupdate and pubdelete and pubtruncate, pubviaroot, puballtables
  from pg_publication where pubname = $1`;

/** Before Postgres 15 there are no lists of columns and no filters. */
const membersSql = `
  select c.oid::int8, to_jsonb(p) ->> 'attnames', to_jsonb(p) ->> 'rowfilter'
  from pg_publication_tables p
  join pg_namespace n on n.nspname = p.schemaname join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
  where p.pubname = $1`;

export interface PublicationOptions {
  readonly name: string;
  readonly make: boolean;
  readonly tables: readonly Table[];
}

/**
 * Makes sure that a publication carries the tables, all kinds of changes and all mapped columns. Without `make` it only
 * looks.
 * @throws MillraceError `config_invalid` with the statement that mends it
 */
export async function ensurePublication(sql: SqlSession, options: PublicationOptions): Promise<void> {
  const { name, make, tables } = options;
  const quoted = quote(name);
  const list = (some: readonly Table[]) => some.map(quoteTable).join(', ');
  const create = `create publication ${quoted} for table ${list(tables)} with (publish_via_partition_root = true)`;
  const invalid = (message: string, statement: string) =>
    new MillraceError('config_invalid', message, { hint: `Run: ${statement};` });

  let [found] = await sql.rows(publicationSql, [name]);
  if (found === undefined) {
    if (!make) throw invalid(`There is no publication ${name}.`, create);
    await sql.rows(create).catch(unlessMade);
    [found] = await sql.rows(publicationSql, [name]);
  }
  if (found![0] !== 't')
    throw invalid(
      `The publication ${name} does not carry all changes.`,
      `alter publication ${quoted} set (publish = 'insert, update, delete, truncate')`,
    );
  const partitioned = tables.find((table) => table.partitioned);
  if (partitioned !== undefined && found![1] !== 't')
    throw invalid(
      `The publication ${name} names the partitions of ${partitioned.name} and not the table.`,
      `alter publication ${quoted} set (publish_via_partition_root = true)`,
    );

  let members = await membersOf(sql, name);
  const missing = tables.filter(({ oid }) => !members.has(oid));
  if (missing.length > 0) {
    const add = `alter publication ${quoted} add table ${list(missing)}`;
    if (!make) throw invalid(`The publication ${name} leaves out ${list(missing)}.`, add);
    await sql.rows(add).catch(unlessMade);
    members = await membersOf(sql, name);
  }
  for (const table of tables) {
    const { columns: published, filter } = members.get(table.oid)!;
    if (filter !== undefined)
      throw invalid(
        `The publication ${name} leaves out rows of ${table.name}, which are read with the others at first.`,
        `alter publication ${quoted} set table ${list(tables)}`,
      );
    const { metadata, text } = table.mapping;
    const mapped = [
      ...table.id,
      ...text,
      ...(metadata === 'rest' ? table.columns.map((c) => c.name) : metadata),
    ];
    const hidden = published === undefined ? [] : mapped.filter((column) => !published.includes(column));
    if (hidden.length > 0)
      throw new MillraceError(
        'config_invalid',
        `The publication ${name} leaves out ${hidden.join(', ')} of ${table.name}.`,
        { hint: 'Publish these columns too, or list the published ones in `metadata`.' },
      );
  }
}

function unlessMade(error: unknown): void {
  if (!duplicate.includes(sqlStateOf(error))) throw error;
}

interface Member {
  /** undefined: all. */
  readonly columns: readonly string[] | undefined;
  readonly filter: string | undefined;
}

async function membersOf(sql: SqlSession, name: string): Promise<ReadonlyMap<number, Member>> {
  const rows = await sql.rows(membersSql, [name]);
  return new Map(
    rows.map(([oid, list, filter]) => [
      Number(oid),
      {
        columns: list === null ? undefined : (JSON.parse(list!) as string[]),
        filter: filter ?? undefined,
      },
    ]),
  );
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteTable({ schema, name }: Pick<Table, 'schema' | 'name'>): string {
  return `${quote(schema)}.${quote(name)}`;
}
