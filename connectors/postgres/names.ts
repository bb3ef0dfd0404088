/** The tables of a schema, quoted, as statements name them. */
export interface TableNames {
  readonly schema: string;
  readonly layout: string;
  readonly ledger: string;
  readonly chunks: string;
  readonly artifacts: string;
  /** What sources gave, where it is kept. */
  readonly texts: string;
  /** What each generation has yet to take over. */
  readonly behind: string;
  /** The sequence that marks changes. */
  readonly marks: string;
}

export function tableNames(schema: string): TableNames {
  const quoted = quoteName(schema);
  return {
    schema: quoted,
    layout: `${quoted}.layout`,
    ledger: `${quoted}.ledger`,
    chunks: `${quoted}.chunks`,
    artifacts: `${quoted}.artifacts`,
    texts: `${quoted}.texts`,
    behind: `${quoted}.behind`,
    marks: `${quoted}.marks`,
  };
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
