import pg from 'pg';
import { contentHash } from '../../../src/elements/hash.js';

export interface CompareInput {
  /** Of the table's server, and of the store's. */
  readonly source: string;
  readonly store: string;
  readonly pipeline: string;
  readonly schema: string;
}

export interface TableComparison {
  readonly rows: number;
  readonly chunks: number;
  /** What is not as it must be; empty when all is well. */
  readonly differences: readonly string[];
}

interface Row {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly revision: number;
}

interface Stored {
  readonly id: string;
  readonly hash: string | null;
  readonly failed: boolean;
  readonly due: number;
  readonly chunks: readonly {
    readonly ordinal: number;
    readonly start: number;
    readonly end: number;
    readonly text: string;
  }[];
}

const page = 5_000;
const shown = 20;

/**
 * Compares a table with what a store holds of it, row by row, without Millrace's reading of either: each row's content
 * hash, and that its chunks are slices of its text that leave nothing out.
 */
export async function compareTable({
  source,
  store,
  pipeline,
  schema,
}: CompareInput): Promise<TableComparison> {
  const [table, held] = [source, store].map((url) => new pg.Client({ connectionString: url }));
  await Promise.all([table!.connect(), held!.connect()]);
  try {
    const differences: string[] = [];
    let [rows, chunks] = [0, 0];
    for (let after: string | undefined; ;) {
      const { rows: some } = await table!.query<Row>(
        'select id, title, body, revision from articles where $1::bigint is null or id > $1 order by id limit $2',
        [after, page],
      );
      if (some.length === 0) break;
      after = some.at(-1)!.id;
      const { rows: stored } = await held!.query<Stored>(
        `select l.document_id as id, l.content_hash as hash, l.failed_version is not null as failed, l.chunk_count as due, c.chunks
         from ${schema}.ledger l, lateral (
           select coalesce(json_agg(json_build_object('ordinal', ordinal, 'start', "start", 'end', "end", 'text', text)
                           order by ordinal), '[]') as chunks
           from ${schema}.chunks where pipeline = l.pipeline and document_id = l.document_id) c
         where l.pipeline = $1 and l.document_id = any($2) and l.state = 'stored'`,
        [pipeline, some.map(({ id }) => id)],
      );
      const found = new Map(stored.map((one) => [one.id, one]));
      for (const row of some) {
        const fault = faultOf(row, found.get(row.id));
        if (fault !== undefined) differences.push(`${row.id}: ${fault}`);
        chunks += found.get(row.id)?.chunks.length ?? 0;
      }
      rows += some.length;
    }
    const { rows: counts } = await held!.query<{ documents: string; chunks: string }>(
      `select (select count(*) from ${schema}.ledger where pipeline = $1 and state = 'stored') as documents,
              (select count(*) from ${schema}.chunks where pipeline = $1) as chunks`,
      [pipeline],
    );
    const { documents, chunks: all } = counts[0]!;
    if (Number(documents) !== rows) differences.push(`${documents} documents are stored, of ${rows} rows`);
    if (Number(all) !== chunks) differences.push(`${all} chunks are stored, of which rows have ${chunks}`);
    return { rows, chunks, differences: differences.slice(0, shown) };
  } finally {
    await Promise.all([table!.end(), held!.end()]);
  }
}

function faultOf({ title, body, revision }: Row, stored: Stored | undefined): string | undefined {
  if (stored === undefined) return 'missing';
  const text = `${title}\n\n${body}`;
  if (stored.failed) return 'marked as failed';
  if (stored.hash !== contentHash({ text, metadata: { revision } })) return 'another content';
  if (stored.due !== stored.chunks.length)
    return `${stored.chunks.length} chunks, ${stored.due} by the ledger`;
  let reached = 0;
  for (const [at, chunk] of stored.chunks.entries()) {
    if (chunk.ordinal !== at) return `no chunk ${at}, or two`;
    if (chunk.text !== text.slice(chunk.start, chunk.end)) return `chunk ${at} is no slice of the text`;
    if (text.slice(reached, Math.max(reached, chunk.start)).trim() !== '') return `a gap before chunk ${at}`;
    reached = Math.max(reached, chunk.end);
  }
  return text.slice(reached).trim() === '' ? undefined : 'the end of the text is in no chunk';
}
