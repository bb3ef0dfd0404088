import type { SampleVector } from '../../src/contracts/generations.js';
import type { SqlConnection, SqlRow, SqlStatement } from './connection.js';
import type { FoundLayout } from './layout.js';
import type { TableNames } from './names.js';

/** A vector of the first chunk of each of these documents, or of so many documents that are spread over all. */
export async function sampleVectors(
  connection: SqlConnection,
  names: TableNames,
  found: FoundLayout,
  of: number | readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, SampleVector>> {
  const rows = await connection.query(vectorsSql(names, found, of), signal);
  return new Map(rows.flatMap((row) => sample(row, found)));
}

/** The vectors as text. */
function vectorsSql(
  names: TableNames,
  { key, spaces }: FoundLayout,
  of: number | readonly string[],
): SqlStatement {
  const ids =
    typeof of === 'number'
      ? `(select document_id from ${names.ledger} where pipeline = $1 and state = 'stored' and chunk_count > 0
          order by hashtext(document_id) limit $2) as w (id)`
      : 'unnest($2::text[]) as w (id)';
  return {
    text: `select w.id, ${spaces.map(({ column }, at) => `c.${column}::text as v${at}`).join(', ')}
           from ${ids}, lateral (select * from ${names.chunks} where pipeline = $1 and document_id = w.id
             order by ordinal limit 1) c`,
    values: [key, of],
  };
}

/** The first space that the document is in. */
function sample(row: SqlRow, { spaces }: FoundLayout): [string, SampleVector][] {
  for (const [at, { name }] of spaces.entries()) {
    const text = row[`v${at}`] as string | null;
    if (text === null) continue;
    const vector = Float32Array.from(JSON.parse(text) as number[]);
    return [[row['id'] as string, { space: name, vector }]];
  }
  return [];
}
