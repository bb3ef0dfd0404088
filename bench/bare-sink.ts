import type { StoreWrite } from '../src/contracts/sink.js';
import type { SqlStep } from '../connectors/postgres/connection.js';
import { chunkColumns, encodeChunks, numberField, textFields } from '../connectors/postgres/encode.js';
import { tableNames } from '../connectors/postgres/names.js';

const fields = 'ordinal, "start", "end", tokens, hash, text, prefix, metadata, embedding';
const updates = fields.split(', ').map((field) => `${field} = excluded.${field}`);
const shape = { spaces: ['*'], vectors: 'vector', terms: false, columns: [] } as const;

/** A table that rows are copied into before they go on: as wide as they are, without any key. */
export const bareStage = `create temp table if not exists bare_stage (
  write int, id uuid, ordinal int, "start" int, "end" int, tokens int, hash text, text text, prefix text, metadata jsonb,
  embedding vector) on commit delete rows`;

/**
 * What somebody would write who need not care for order, owners, leftovers or kept vectors: binary COPY to a temporary
 * table, INSERT ON CONFLICT into the same tables with the same keys, and the same ledger.
 */
export function bareUpsert(schema: string, writes: readonly StoreWrite[]): SqlStep[] {
  const names = tableNames(schema);
  const rows = writes.map((one, write) => ({ ...one, lead: numberField(write) }));
  return [
    {
      copy: 'bare_stage',
      data: encodeChunks(rows, shape),
    },
    {
      text: `insert into ${names.chunks} (pipeline, document_id, id, ${fields})
             select 'bare', w.id, s.id, ${fields} from bare_stage s
             join unnest($1::int[], $2::text[]) as w (write, id) using (write)
             on conflict (pipeline, id) do update set ${updates.join(', ')}`,
      values: [writes.map((_, at) => at), writes.map(({ documentId }) => documentId)],
    },
    ledgerUpsert(schema, writes),
  ];
}

/** The fastest way in there is: binary COPY into tables that hold nothing of it yet, with the same keys and the same ledger. */
export function bareCopy(schema: string, writes: readonly StoreWrite[]): SqlStep[] {
  const rows = writes.map((one) => ({ ...one, lead: textFields('bare', one.documentId) }));
  return [
    {
      copy: `${tableNames(schema).chunks} (pipeline, document_id, ${chunkColumns}, embedding)`,
      data: encodeChunks(rows, shape),
    },
    ledgerUpsert(schema, writes),
  ];
}

function ledgerUpsert(schema: string, writes: readonly StoreWrite[]): SqlStep {
  return {
    text: `insert into ${tableNames(schema).ledger}
             (pipeline, document_id, source, version, state, content_hash, chain_digest, chunk_count)
           select 'bare', *, 1 from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
           on conflict (pipeline, document_id) do update set version = excluded.version`,
    values: [
      writes.map(({ documentId }) => documentId),
      writes.map(({ source }) => source),
      writes.map(({ version }) => version),
      writes.map(() => 'stored'),
      writes.map(({ contentHash }) => contentHash),
      writes.map(({ chainDigest }) => chainDigest),
    ],
  };
}
