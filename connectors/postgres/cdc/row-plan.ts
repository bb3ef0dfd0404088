import { createHash } from 'node:crypto';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { Json } from '../../../src/elements/metadata.js';
import type { ColumnType } from './column-type.js';
import type { Table, TableColumn } from './table.js';
import type { TypeCatalog } from './type-catalog.js';

/** Where in a row its document is: made anew for each shape that the table takes. */
export interface RowPlan {
  readonly table: Table;
  readonly columns: readonly string[];
  /** Of the columns, by their places. */
  readonly types: readonly ColumnType[];
  /** Places of columns. */
  readonly id: readonly number[];
  /** The same in the order of their index. */
  readonly key: readonly number[];
  readonly text: readonly number[];
  readonly metadata: readonly MetadataColumn[];
  /** All of these places, each once. */
  readonly mapped: readonly number[];
  /** Families of the types of mapped columns; with `metadata: rest` only of id and text, since others may come and go. */
  readonly families: Readonly<Record<string, string>>;
}

interface MetadataColumn {
  readonly name: string;
  readonly at: number;
  read(text: string): Json;
}

/** Names of mapped columns, of those that there are. */
export function mappedColumns(table: Table, columns: readonly { readonly name: string }[]): Set<string> {
  const { metadata, text } = table.mapping;
  return new Set([...table.id, ...text, ...(metadata === 'rest' ? columns.map((c) => c.name) : metadata)]);
}

/**
 * @param when says for messages when the table had this shape: `as of LSN 0/1949850`
 * @throws MillraceError `source_changed` when a mapped column is not there
 */
export function planRow(
  table: Table,
  columns: readonly TableColumn[],
  types: ReadonlyMap<number, ColumnType>,
  when: string,
): RowPlan {
  const names = columns.map(({ name }) => name);
  const place = (name: string): number => {
    const at = names.indexOf(name);
    if (at !== -1) return at;
    throw new MillraceError(
      'source_changed',
      `${table.schema}.${table.name} has no column ${name} any more, ${when}; it has ${names.join(', ')}.`,
      {
        hint: 'Nothing was written. Name the column that holds it now in the configuration, then run again: all rows are read again.',
      },
    );
  };
  const { mapping } = table;
  const typeOf = columns.map(({ type }) => types.get(type)!);
  const id = table.id.map(place);
  const text = mapping.text.map(place);
  const taken = new Set([...table.id, ...mapping.text]);
  const rest = () => names.filter((name) => !taken.has(name));
  const metadata = (mapping.metadata === 'rest' ? rest() : mapping.metadata).map((name): MetadataColumn => {
    const at = place(name);
    return { name, at, read: typeOf[at]!.read };
  });
  const watched =
    mapping.metadata === 'rest' ? [...id, ...text] : [...id, ...text, ...metadata.map(({ at }) => at)];
  return {
    table,
    columns: names,
    types: typeOf,
    id,
    key: table.key.map(place),
    text,
    metadata,
    mapped: [...new Set([...id, ...text, ...metadata.map(({ at }) => at)])],
    families: Object.fromEntries(watched.map((at) => [names[at]!, typeOf[at]!.family]).sort()),
  };
}

/** Rows of these tables as they are now. */
export async function planAll(tables: readonly Table[], catalog: TypeCatalog): Promise<RowPlan[]> {
  const plans: RowPlan[] = [];
  for (const table of tables)
    plans.push(
      planRow(table, table.columns, await catalog.types(table.columns.map(({ type }) => type)), 'now'),
    );
  return plans;
}

/** @throws MillraceError `source_changed` when a mapped column has a type of another family than it had */
export function checkFamilies(
  { table, families }: RowPlan,
  known: Readonly<Record<string, string>> | undefined,
  when: string,
): void {
  for (const [column, family] of Object.entries(families)) {
    const before = known?.[column];
    if (before === undefined || before === family || table.mapping.types[column] === family) continue;
    throw new MillraceError(
      'source_changed',
      `Column ${column} of ${table.schema}.${table.name} was ${before} and is ${family}, ${when}.`,
      {
        hint: `Nothing was written. If documents shall be made of it as it is now, say so: \`types: { ${column}: ${family} }\`; then all rows are read again.`,
      },
    );
  }
}

/** Digest of what decides how rows become documents, and of which rows. */
export function mappingDigest(tables: readonly Table[], reread: number): string {
  const parts = tables.map(({ oid, id, mapping }) => ({ oid, ...mapping, id }));
  return createHash('sha256')
    .update(JSON.stringify([parts, reread]))
    .digest('hex')
    .slice(0, 32);
}
