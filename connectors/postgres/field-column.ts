/** What a column of a metadata field may hold, as Postgres names it. */
export const columnTypes = ['text', 'text[]', 'numeric', 'boolean', 'timestamptz'] as const;
export type ColumnType = (typeof columnTypes)[number];

/** The column of the tenant, where a pipeline has tenants. */
export const tenantColumn = 'tenant';

/** A metadata field as a column of the table of chunks. */
export interface FieldColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Of the field, names from the outside in. */
  readonly path: readonly string[];
  readonly index: boolean;
  /** What becomes of a document whose field holds something else: it fails, or the column stays empty. */
  readonly wrong: 'fail' | 'null';
}

/** A column as a generation has it. */
export interface FoundColumn extends FieldColumn {
  /** Name of its index, where it has one. */
  readonly indexName: string;
  /**
   * `whole`: no chunk of the generation has something in its field that is not in the column; `mixed`: some may; undefined:
   * chunks of before have yet to be looked through.
   */
  readonly filled: 'whole' | 'mixed' | undefined;
}

/** Of a field within the column `metadata`, as an expression. @param name gives each name as one */
export function fieldSql(path: readonly string[], name: (part: string) => string): string {
  // `->` with a text finds names of objects alone, where `#>` would find places of lists too.
  return `(${['metadata', ...path.map((part) => `${name(part)}::text`)].join(' -> ')})`;
}

export function shownField(path: readonly string[]): string {
  return path.map((name) => name.replaceAll('.', '\\.')).join('.');
}
