import type { FieldColumn } from './config-columns.js';

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
